"""Who passes the piece, and who only speaks of passing: real sentences of both kinds."""

import time

import pytest

from streamrelay.gathering.pass_detection import passes

NAMES, NUMBERS = ("Sage", "Rex", "Mary Ann", "C++ (old)"), (1, 2, 3, 12)

PASSES = """
I pass.
I pass
i pass.
I pass!
**I pass.**
_I pass._
- I pass.
* I pass.
> not this line|I pass.
1. I pass.
(I pass.)
I pass…
I'll finish here. I pass.
That is all I have. I pass.
Nothing to add: I pass.
Nothing to add — I pass.
The thread is spent; I pass.
No more questions? I pass.
I pass for now.
I pass this round.
I pass this time.
I pass on this one.
I pass. The tests can wait.
I pass — nothing new since yesterday.
I pass; the others have said it.
I pass the piece.
I pass the piece to Rex.
I pass the talking piece on.
I pass the talking piece to whoever comes next.
I pass my turn.
I pass it on.
I pass it to Sage.
I pass it on to the next speaker.
I pass to Rex.
I pass to rex.
I pass to Rex (2).
I pass to Mary Ann, who knows the parser.
I pass to C++ (old).
I pass to 3.
I pass to #12.
I pass to number 2.
I pass to the next.
I pass to the next speaker.
I pass to the circle.
I pass to whoever wants it.
I pass to everyone who has waited.
I pass to Bob.
I pass on to Sage.
I will pass to Sage.
I will pass.
I shall pass.
Passing to Rex.
Passing to Rex
Passing to Sage now, with one question open.
Passing to the next speaker.
Passing to Bob.
Passing the piece.
Passing the piece to Rex.
Passing it to Rex.
Passing it on to Sage.
I'm passing the piece.
I am passing to Rex.
I’m passing to Rex.
Done.  Passing to Rex.
**Passing to Rex.**
The build is green.|I pass.
A long thought that fills a line|and goes on, and then ends.||I pass.
```|I pass.|```|Now I do: I pass.
I pass to Mary Ann's question later, so: I pass.
I pass to you.
I pass to you, Rex.
I pass to the next in line.
I pass to the next one, please.
I pass to the others.
Done|I pass.
Done|I pass to Rex
Done|I pass to Rex.|He knows.
A line that is broken|somewhere. I pass.
I pass|
"""

DOES_NOT = """
All tests pass.
The tests pass now.
The tests that I pass to CI are slow.
Let it pass.
I passed.
I passed the exam.
I passed to Rex what I knew.
I pass the path to the parser.
I pass the parameter by reference.
I pass the piece of code to the linter.
I pass the pieces of the tuple one by one.
I pass arguments as a list.
I pass a lambda here.
I pass it to the function below.
I pass it on to the parser, which drops it.
I pass to the function a copy of the list.
I pass to the constructor every dependency it needs.
I pass through the loop twice.
I pass over the missing keys.
I pass along what the log said.
I pass on the message as it was.
I pass, by reference, the whole tree.
I pass judgement on nobody.
I pass by the window each morning.
I pass for an expert.
I pass for a human in most tests.
I pass this object to every worker.
I pass this one to the logger, and the other to the journal.
I pass here the same pointer twice.
I pass again through the same lines.
I pass?
Should I pass?
May I pass.
If I pass. everything stops.
When I pass the piece, Rex will have it.
Before I pass, one more thing.
Before I pass to Rex, one more thing.
I would like to pass to Rex.
I want to pass.
I do not pass.
I don't pass.
I won't pass.
I cannot pass the piece yet.
Must I pass to the next?
He said I pass.
Rex said that I pass to Sage.
You can say "I pass." whenever you like.
"I pass." is what you say.
“I pass.” is the phrase.
„I pass.“ sagt man hier.
« I pass. » est la formule.
`I pass.` ends a tenure.
> I pass.
> Rex (2):|> I pass to Sage.
```|I pass.|```
~~~text|I pass to Rex.|~~~
Say `I pass to Rex` to give it to him.
Passing to a function by reference is slow.
Passing to functions is cheap.
Passing to strict mode broke the build.
Passing to the function a list of names.
Passing to Python a list of bytes is slow.
Passing to Rust's allocator would help.
Passing tests are not enough.
Passing the tests is not enough.
Passing the piece of paper around took an hour.
Passing by value copies it.
Passing it to the linter fixed it.
Passing to and fro costs time.
The passing to Rex went well.
We are passing to Rex too much work.
They pass to Rex.
The pipeline passes to Rex whatever it has.
I password-protect nothing.
I passthrough the flags.
Ich passe.
The pass is over.
pass
def f(): pass
    pass
Pass.
A pass.
Passport control to Rex.
Surpassing to Rex.
I surpass.
Hi pass.
AI pass.
I compass to Rex.
In this pass I check the types.
Two passes to go.
The reviewer will let you pass to the next stage.
Students pass to the next year if they pass.
I pass to you the question of the parser's depth.
I pass to next year's budget what is left.
I pass to number crunching now and then.
I pass to 3.11 as the target version.
I pass to Rex's parser what I have.
I pass to the next stage.
I pass to 3 workers the same seed.
I pass to you three lists.
Passing to next-generation parsers.
This is the message that|I pass to Rex each morning.
This is what|I pass to Sage, and what Sage drops.
This is how|I pass to the next speaker what I was told, and more.
There are three things.  I pass|the pointer to the parser.
I pass to 300 workers the same seed.
"""


def sentences(block: str) -> list[str]:
    return [line.replace("|", "\n") for line in block.strip("\n").split("\n")]


@pytest.mark.requirement("GAT-12a")
@pytest.mark.parametrize("text", sentences(PASSES))
def test_who_passes_is_heard(text: str) -> None:
    assert passes(text, NAMES, NUMBERS)


@pytest.mark.requirement("GAT-12a")
@pytest.mark.parametrize("text", sentences(DOES_NOT))
def test_who_speaks_of_passing_keeps_the_piece(text: str) -> None:
    assert not passes(text, NAMES, NUMBERS)


@pytest.mark.requirement("GAT-12a")
def test_the_phrases_stand_in_the_midst_of_an_answer() -> None:
    answer = "I looked at the tests, and they pass.\n\n* the parser is slow\n* the rest is fine\n\nPassing to Sage."
    assert passes(answer, NAMES)
    assert not passes(answer.replace("Passing to Sage.", "Sage knows more."), NAMES)


@pytest.mark.parametrize(
    "text",
    ["I pass " * 60_000, "\n" * 200_000, '"' * 100_000, "`" * 99_999, "I pass to " + "A" * 100_000, "*" * 100_000,
     "I pass to " + "'" * 50_000, "> " * 100_000, " \t" * 100_000, "1. " * 60_000, "I pass\t" + " " * 100_000],
    ids=lambda text: repr(text[:7]),
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    """Compared with prose that fills all that is read; today's worst text takes 4 times as long as that."""
    assert cost(text) < 50 * cost("lorem ipsum " * 3000)


def cost(text: str) -> float:
    """Return the seconds of processor time that a text takes, the least of three times."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        passes(text, NAMES, NUMBERS)
        taken.append(time.process_time() - began)
    return min(taken)


def test_the_end_of_a_flood_is_read_and_its_middle_is_not() -> None:
    noise = "lorem ipsum\n" * 100_000
    assert passes(noise + "I pass.")
    assert passes("I pass.\n" + noise)
    assert not passes(noise + "I pass.\n" + noise)


def test_names_are_words_not_patterns() -> None:
    assert passes("I pass to a.c", ["a.c"])
    assert not passes("I pass to abc the list", ["a.c"])
    assert not passes("I pass to the list.", [])
