"""What programs that keep a transcript may look like, and what may be said in them: for `transcript_program`.

    for name, dress in DRESSES.items():
        talk = Talk(replace(look, **dress.look))
        talk.sends(dress.messages[0])

None of it is any program's own look: they are drawn with other glyphs, speak other languages, count time in other
ways, and frame their composers in other ways than each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

_MESSAGES = ("Which files are there, and what is in them?", "And now explain the second one in a few more words.")
_ANSWERS = (
    (
        "There are three files in this folder.\n\nThe first one holds the parser, which cuts what it reads into tokens "
        "and never guesses where one of them ends.\n\n- parser.py\n- screen.py\n- README"
    ),
    "It is a screen: rows, columns and a cursor.\nThat is all there is to say about it, for now at least.",
)


@dataclass(frozen=True, slots=True)
class UiVariant:
    """A look, as fields of `Look`, and two messages with their answers."""

    look: Mapping[str, Any] = field(default_factory=dict)
    messages: tuple[str, str] = _MESSAGES
    answers: tuple[str, str] = _ANSWERS


DRESSES: Mapping[str, UiVariant] = MappingProxyType({
    "rules": UiVariant({"footer": "✻ Baked for 12s"}),
    "rounded box": UiVariant({
        "frame": "box", "mark": "❯ ", "composer_mark": "❯ ", "bullet": "◆ ", "placeholder": "Type your message",
        "status": ("~/work   main   gpt (high)", "  ctrl+p commands"), "footer": "◇ took 1m 02s · 3.4k tokens",
    }),
    "double box": UiVariant({
        "frame": "box", "glyphs": "═║╔╗╚╝", "mark": "» ", "composer_mark": "» ", "bullet": "★ ",
        "spinner": "◐◓◑◒", "label": "Working (1m 02s • ctrl+c to stop)", "footer": "─ Worked for 3s ───────",
    }),
    "ascii box": UiVariant({
        "frame": "box", "glyphs": "-|++++", "mark": "$ ", "composer_mark": "$ ", "bullet": "* ",
        "spinner": "|/-\\", "label": "busy [0:12]", "status": ("",),
    }),
    "dashed rules": UiVariant({
        "glyphs": "┄┆    ", "mark": "▷ ", "composer_mark": "▷ ", "bullet": "▪ ", "spinner": "⣾⣽⣻⢿",
    }),
    "bar": UiVariant({
        "frame": "bar", "glyphs": "▐     ", "mark": "▐ ", "composer_mark": "", "bullet": "  ",
        "placeholder": "Ask anything…", "label": "⬝⬝■ esc to cancel", "status": ("", "1.18"),
    }),
    "bare": UiVariant({
        "frame": "bare", "mark": "λ ", "composer_mark": "λ ", "bullet": "¶ ", "spinner": "◜◝◞◟", "label": "hmm",
        "status": ("  chat 0.3",),
    }),
    "labels": UiVariant({"mark": "you: ", "composer_mark": ": ", "bullet": "", "footer": "86 words · 2.7s"}),
    "German": UiVariant(
        {
            "frame": "box", "placeholder": "Nachricht eingeben", "label": "Überlege … (12 s, Esc bricht ab)",
            "status": ("  ? zeigt Tastenkürzel",), "footer": "✻ Fertig nach 12 Sek.",
        },
        ("Was tut die Größenänderung?", "Und wozu dient sie, in wenigen Wörtern gesagt?"),
        ("Sie ändert die Größe.\n\n1. Spalten zählen\n2. Zeilen umbrechen", ("Damit nichts verloren geht, wenn jemand "
         "das Fenster schmaler zieht oder die Schrift größer stellt, als sie vorher war.")),
    ),
    "Russian": UiVariant(
        {"mark": "› ", "label": "Думаю… (12 с, Esc — прервать)", "spinner": "←↑→↓", "footer": "✻ Готово за 12 с"},
        ("Какие файлы здесь лежат?", "Расскажи о втором файле подробнее."),
        ("Здесь три файла.\n\nПервый содержит разбор, второй — экран, третий — описание для тех, кто будет это читать.",
         "Второй файл хранит строки экрана."),
    ),
    "Chinese": UiVariant(
        {
            "frame": "box", "mark": "❯ ", "composer_mark": "❯ ", "placeholder": "请输入消息", "bullet": "● ",
            "label": "思考中…（3秒 · 按 Esc 中断）", "status": ("  ? 查看快捷键",), "footer": "✻ 用时 12秒",
        },
        ("这里有哪些文件？", "请再解释一下第二个文件。"),
        ("这里一共有三个文件。\n\n第一个文件是解析器，它把读到的内容切成小块，从不猜测一块在哪里结束，也从不等待还没有到来的东西。",
         "它保存屏幕上的每一行。"),
    ),
    "Japanese": UiVariant(
        {
            "mark": "＞ ", "composer_mark": "＞ ", "bullet": "◆ ", "placeholder": "メッセージを入力",
            "label": "考え中…（3秒）",
        },
        ("どんなファイルがありますか。", "二つ目のファイルをもう少し説明してください。"),
        ("三つのファイルがあります。\n\n一つ目は読み取ったものを小さく切り分けるだけで、どこで終わるかを決して推測しません。",
         "画面の行をすべて保存しています。"),
    ),
    "Arabic": UiVariant(
        {"mark": "◂ ", "composer_mark": "◂ ", "label": "أفكر… (٣ ث)", "spinner": "◴◷◶◵", "footer": "✻ انتهى خلال 12 ث"},
        ("ما هي الملفات الموجودة هنا؟", "اشرح الملف الثاني بكلمات أكثر."),
        ("توجد هنا ثلاثة ملفات.\n\nالملف الأول هو المحلل الذي يقطع ما يقرأه إلى أجزاء صغيرة ولا يخمن أبدا أين تنتهي.",
         "هو الشاشة."),
    ),
})  # fmt: skip
"""By name."""
