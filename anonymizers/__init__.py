"""De-identified text: operators that replace mentions, policies that choose them, and keys.

A replacement is a function of a secret key, the patient and what is replaced. It needs no list of
what was replaced before, and is the same in any order and in any process.
"""
