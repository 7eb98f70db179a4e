"""Features of words and of their context: templates, options, and lexical resources."""
