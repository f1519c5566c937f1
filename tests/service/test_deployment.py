"""compose.yaml and Dockerfile, by structure: nothing here builds or starts a container."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from worker.app import QUEUES
from worker.cli import cli
from worker.config import PREFIX, Settings

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "afterturn:local"}
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_watched_restarted_and_nobody_is_root(name: str) -> None:
    service = SERVICES[name]
    assert service["healthcheck"]["test"]
    assert service["restart"] == "unless-stopped"
    assert not service["user"].startswith(("0", "root"))
    assert service["cap_drop"] == ["ALL"]
    assert service["read_only"] is True


@pytest.mark.parametrize("name", SERVICES)
def test_images_are_pinned_and_ports_are_this_machines_own(name: str) -> None:
    assert re.search(r":(\d|local)", SERVICES[name]["image"])
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name].get("ports", []))


@pytest.mark.parametrize("name", OURS)
def test_transcripts_can_only_be_read_and_lie_where_the_host_has_them(name: str) -> None:
    mounts = [mount.split(":") for mount in OURS[name]["volumes"]]
    assert all(mount[0] == mount[1] for mount in mounts)
    agents = [mount for mount in mounts if ".afterturn" not in mount[0]]
    assert agents
    assert all(mount[2:] == ["ro"] for mount in agents)


@pytest.mark.parametrize("name", OURS)
def test_commands_and_settings_are_those_of_the_code(name: str) -> None:
    service = OURS[name]
    assert service["command"][0] in cli.commands
    known = {PREFIX + field.upper() for field in Settings.model_fields}
    given = {variable for variable in service["environment"] if variable.startswith(PREFIX)}
    assert given <= known
    options = {option for parameter in cli.commands[service["command"][0]].params for option in parameter.opts}
    assert {word for word in service["command"] if word.startswith("--")} <= options


def test_there_is_one_clock_one_worker_for_all_queues_and_one_for_people_who_wait() -> None:
    commands = [service["command"] for service in OURS.values()]
    assert commands.count(["beat"]) == 1
    assert ["worker"] in commands
    express = next(command for command in commands if "--queues" in command)
    assert express[express.index("--queues") + 1] == QUEUES[0]


def test_redis_keeps_what_it_is_told() -> None:
    command = SERVICES["redis"]["command"]
    assert command[command.index("--appendonly") + 1] == "yes"
    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"
    assert SERVICES["redis"]["volumes"] == ["redis:/data"]


def test_the_image_is_built_from_locked_hashes_and_runs_as_nobody_special() -> None:
    build, final = DOCKERFILE.split("\nFROM ")[-2:]
    assert "--require-hashes" in build
    assert "--no-index" in build.split("--require-hashes")[1]
    user = re.search(r"^USER (\d+)$", final, re.MULTILINE)
    assert user is not None
    assert int(user[1]) > 0
    assert "pip install" not in final


def test_the_image_holds_what_it_is_made_of_and_nothing_else() -> None:
    ignore = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert ignore[0] == "*"
    let_in = {line[1:] for line in ignore if line.startswith("!")}
    copied = {
        word for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE) for word in line.split()[:-1]
    }
    assert copied == let_in
    assert all((ROOT / name).exists() for name in let_in)
