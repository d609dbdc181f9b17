"""What a lexical shortcut is, how it is injected, and how a ranking is scored against it.

Pure: plain values in, plain values out. Nothing here knows of models, tensors, files or pytest.
"""

from shortcuts.example import Example
from shortcuts.rule import Rule, Tokens

__all__ = ["Example", "Rule", "Tokens"]
