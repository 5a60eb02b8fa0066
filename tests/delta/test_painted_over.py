"""What stood on a screen and was painted over is remembered, each paragraph once."""

from streamrelay.delta.layout.rows import PaintedRow
from streamrelay.delta.transcript.painted_over import MAX_ROWS, PaintedOver


def screen(*rows: str) -> list[PaintedRow]:
    return [PaintedRow(row) for row in rows]


def test_a_paragraph_is_remembered_when_one_of_its_rows_is_gone() -> None:
    over = PaintedOver()
    over.look(screen("● One", "  two", "", "> "), screen("● One", "  2", "", "> "))
    assert over.paragraphs() == [("● One", "  two"), ("> ",)]


def test_rows_that_grow_or_move_are_not_gone() -> None:
    over = PaintedOver()
    over.look(screen("● On", "", "", "✻ Thinking"), screen("● One", "", "", "✶ Thinking"))
    over.look(screen("● One", "", "● Two"), screen("", "● One", "● Two"))
    assert over.paragraphs() == []


def test_words_that_stand_in_another_place_by_chance_hide_no_paragraph() -> None:
    over = PaintedOver()
    over.look(screen("● Two", "", "  def two():"), screen("Bob: Two", "  def two():", ""))
    assert over.paragraphs() == [("● Two",), ("  def two():",)]


def test_of_a_paragraph_that_grew_only_the_last_state_is_kept() -> None:
    over = PaintedOver()
    over.look(screen("● One", "  two thr", "", "1 s"), screen("● One", "  two three", "  four", "now 2 s"))
    over.look(screen("● One", "  two three", "  four", "", "now 2 s"), screen("", "", "", "", ""))
    assert over.paragraphs() == [("1 s",), ("● One", "  two three", "  four"), ("now 2 s",)]


def test_what_stood_there_when_the_last_answer_was_read_is_old() -> None:
    over = PaintedOver()
    over.look(screen("● One"), screen(""))
    over.forget(screen("● Old", "  answer", "", "> "))
    over.look(screen("● Old", "  answer", "", "● New"), screen("", "", "", ""))
    assert over.paragraphs() == [("● New",)]


def test_it_is_bounded() -> None:
    over = PaintedOver()
    for number in range(2 * MAX_ROWS):
        over.look(screen(f"row {number}", f"and {number}"), screen("", ""))
    kept = over.paragraphs()
    assert sum(map(len, kept)) <= MAX_ROWS
    assert kept[-1] == (f"row {2 * MAX_ROWS - 1}", f"and {2 * MAX_ROWS - 1}")


def test_a_paragraph_that_goes_on_from_an_old_one_has_only_its_new_rows() -> None:
    """Some programs leave no blank rows between banner, messages and answers: the transcript is one paragraph."""
    over = PaintedOver()
    over.forget(screen("A banner", "> one", "● Old", "", "> "))
    for rows in (["A banner", "> one", "● Old", "> two", "● New"], ["● Old", "> 2", "● Newer"], ["> one", "● Other"]):
        over.look(screen(*rows), screen(*([""] * len(rows))))
    assert over.paragraphs() == [("> two", "● New"), ("> 2", "● Newer"), ("> one", "● Other")]
