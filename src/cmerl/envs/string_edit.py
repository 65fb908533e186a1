"""StringEdit: type a hidden word, one letter at a time, knowing only how many letters are right."""

from __future__ import annotations

from gymnasium import spaces

from cmerl.envs.object_world import ObjectWorld, enumerate_world
from cmerl.errors import InputError
from cmerl.validation.numbers import check_count


class StringEdit(ObjectWorld):
    """Edit a string towards a hidden target of the same length.

    Action p·|alphabet| + c writes letter c at position p. The reward is the share of correct positions after it. The
    first string repeats the first letter of the alphabet. An optimal policy corrects one position per step.

    Args:
        target: The hidden word.
        alphabet: Letters that may be written.
        horizon: Suggested episode length.
    """

    def __init__(self, target: str = "CABDBC", alphabet: str = "ABCD", horizon: int = 12) -> None:
        if len(set(alphabet)) < len(alphabet) or len(alphabet) < 2:
            raise InputError(f"alphabet must have two different letters or more, but is {alphabet!r}.")
        if not target or set(target) - set(alphabet):
            raise InputError(f"target must be a word of the letters {alphabet!r}, but is {target!r}.")
        check_count("horizon", horizon)
        self.target, self.alphabet = target, alphabet

        def move(word: str, action: int) -> tuple[str, float]:
            place, letter = divmod(action, len(alphabet))
            after = word[:place] + alphabet[letter] + word[place + 1 :]
            return after, sum(map(str.__eq__, after, target)) / len(target)

        start = alphabet[0] * len(target)
        model = enumerate_world(start, len(target) * len(alphabet), move, lambda word: word)
        space = spaces.Text(len(target), min_length=len(target), charset=alphabet)
        super().__init__(model, space, horizon)
