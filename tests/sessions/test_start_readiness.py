"""When a program that was just started counts as ready, by its screen and its rest."""

from dataclasses import replace

import pytest

from streamrelay.agents.profile import AgentProfile, parse_profile
from streamrelay.delivery.machine import PICTURE_REST
from streamrelay.delta.pane_state import ComposerView
from streamrelay.sessions.readiness import RESTED, is_ready
from streamrelay.testing.agent import PROFILE
from tests.delivery.machines import DIALOG, EMPTY

COMPOSER = replace(EMPTY, rows=("a banner", ">"))


@pytest.fixture
def agent() -> AgentProfile:
    return parse_profile("sprite", PROFILE, source="sprite.toml")


def test_an_agent_is_ready_when_its_screen_rests_with_a_composer(agent: AgentProfile) -> None:
    assert not is_ready(COMPOSER, agent, rested=PICTURE_REST / 2), "a question may replace the composer"
    assert is_ready(COMPOSER, agent, rested=PICTURE_REST)


def test_an_agent_without_a_composer_is_not_ready_however_long_it_rests(agent: AgentProfile) -> None:
    assert not is_ready(replace(EMPTY, rows=("a banner",), composer=ComposerView()), agent, rested=60.0)


def test_a_question_ends_the_wait_at_once(agent: AgentProfile) -> None:
    assert is_ready(DIALOG, agent, rested=0.0)


def test_a_program_of_which_nothing_is_known_is_ready_once_it_has_rested() -> None:
    assert not is_ready(COMPOSER, None, rested=RESTED / 2)
    assert is_ready(COMPOSER, None, rested=RESTED)
