"""Secrets go, everything else stays."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.messages import Message, Origin, Role, ToolCall, ToolResult
from worker.core.secret_shapes import PLACEHOLDER
from worker.core.secrets import contains_secret, redact, redact_messages

# Written in two pieces, so that no scanner takes this file for a leak.
GITHUB = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
ANTHROPIC = "sk-ant-" + "api03-abcdefGHIJ1234567890xyz"
AWS_ID = "AKIA" + "IOSFODNN7ABCDEFG"
AWS_SECRET = "wJalrXUtnFEMIaK7" + "MDENGabPxRfiCYzzzzzzKEY1"

SECRETS = {
    "anthropic": ANTHROPIC,
    "openai project key": "sk-proj-" + "Ab12Cd34Ef56Gh78Ij90Kl",
    "openai": "sk-" + "1234567890abcdef1234567890abcdef",
    "github": GITHUB,
    "github fine-grained": "github_pat_" + "11ABCDEFG0abcdefghijkl_mnopqrstuv",
    "aws id": AWS_ID,
    "google": "AIza" + "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "slack": "xoxb-" + "123456789012-abcdefghijkl",
    "gitlab": "glpat-" + "ab12CD34ef56GH78ij90",
    "huggingface": "hf_" + "abcdefghijklmnopqrstuvwx12",
    "npm": "npm_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "twilio": "SK" + "176813e02ea68ef7" * 2,
    "vault": "hvs." + "CAESIJ1q2w3e4r5t6y7u8i9o0p",
    "databricks": "dapi" + "176813e02ea68ef7" * 2,
    "atlassian": "ATATT3" + "xFfGF0Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8Ii9",
    "notion": "ntn_" + "1234567890Ab" * 4,
    "figma": "figd_" + "Ab1Cd2Ef3G" * 4,
    "postman": "PMAK-" + "0123456789ab" * 2 + "-" + "0123456789abcdef0" * 2,
    "grafana": "glsa_" + "Ab1Cd2Ef" * 4 + "_0a1b2c3d",
    "sentry": "sntrys_" + "eyJpYXQiOjE3" * 4,
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "sendgrid": "SG." + "ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf09kqeF8tAmbihYzrnopKc1s5cr",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4",
}

ASSIGNED = {
    "Authorization: Bearer abc123def456ghi789": "abc123def456ghi789",
    "-H 'X-Api-Key: 9f8e7d6c5b4a39281706'": "9f8e7d6c5b4a39281706",
    "postgres://app:s3cr3tPw@db.example.org:5432/app": "s3cr3tPw",
    "DATABASE_URL=mysql://root:toor@localhost/x": "toor",
    "redis://:p4ssw0rd@cache:6379": "p4ssw0rd",
    "password=hunter2": "hunter2",
    "DB_PASSWORD=swordfish": "swordfish",
    'password: "hunter2"': "hunter2",
    '"token": "abc123def456"': "abc123def456",
    r"{\"password\": \"hunter2\", \"a\": 1}": "hunter2",
    r'{"args": "{\"api_key\": \"Zx81kkPq99aa\"}"}': "Zx81kkPq99aa",
    "the password is hunter2!": "hunter2",
    "密码是 hunter2abc": "hunter2abc",
    "mysql --password hunter22 -u root": "hunter22",
    "--api-key=Zx81kkPq99aaBB77cc": "Zx81kkPq99aaBB77cc",
    "client_secret='q8fj2K1zP0'": "q8fj2K1zP0",
    "curl -u admin:Sup3rPw https://x": "Sup3rPw",
    'os.environ["API_TOKEN"] = "ab12cd34ef56gh78"': "ab12cd34ef56gh78",
    "<password>hunter2</password>": "hunter2",
    "export GITHUB_TOKEN=0123456789abcdef0123456789abcdef01234567": "0123456789abcdef0123456789abcdef01234567",
}

HARMLESS = [
    "token_count=12",
    "max_tokens: 4096",
    'password=os.environ["DB_PASSWORD"]',
    "password=user_password",
    "self.password = password",
    "password: string",
    "password=None,",
    '"password": "<your-password>"',
    '"token": "${GITHUB_TOKEN}"',
    "token = getToken()",
    "token: {{ secrets.TOKEN }}",
    '"password": "********"',
    'api_key="YOUR_API_KEY"',
    "api_key=settings.api_key",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "550e8400-e29b-41d4-a716-446655440000",
    "/usr/lib/python3.11/site-packages/token/secret.py",
    "task-management-for-people-who-like-2-names",
    "Authorization: Bearer $TOKEN",
    '"token": "The token to use"',
    "invalid password: try again",
    "token: cl100k_base",
    "git@github.com:owner/repo.git",
    "http://user:${PASS}@host/",
    "password: process.env.DB_PASSWORD,",
    "The secret to good code is simplicity",
]


def human(index: int, text: str) -> Message:
    return Message(index=index, role=Role.USER, origin=Origin.HUMAN, text=text)


def printed(index: int, text: str) -> Message:
    result = ToolResult(call_id="c", name="Bash", text=text)
    return Message(index=index, role=Role.TOOL, origin=Origin.TOOL, text="", tool_result=result)


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_the_keys_of_known_vendors_go(secret: str) -> None:
    """O6, B57"""
    for text in (secret, f"use {secret}.", f"KEY={secret}\n", f'{{"a": "{secret}"}}', f"x({secret})"):
        assert secret not in redact(text)


@pytest.mark.parametrize("text", ASSIGNED)
def test_a_value_goes_because_of_its_name(text: str) -> None:
    redacted = redact(text)
    assert ASSIGNED[text] not in redacted
    assert PLACEHOLDER.search(redacted)


@pytest.mark.parametrize("text", HARMLESS)
def test_names_templates_and_hashes_stay(text: str) -> None:
    assert redact(text) == text


def test_a_private_key_goes_whole_even_when_its_end_was_cut_off() -> None:
    body = "\n".join(["MIIEowIBAAKCAQEA7bq0Zk" * 2] * 4)
    whole = f"before\n-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\nafter"
    assert redact(whole).startswith("before\n⟨secret:private-key:")
    assert redact(whole).endswith("⟩\nafter")
    assert "MIIE" not in redact(f"-----BEGIN PRIVATE KEY-----\n{body}\n")
    assert "MIIE" not in redact(f"{body}\n-----END PRIVATE KEY-----\nafter")


def test_an_escaped_private_key_goes_too() -> None:
    text = json.dumps("-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq0Zk\n-----END PRIVATE KEY-----\n")
    assert "MIIE" not in redact(text)
    assert json.loads(redact(text)).startswith("⟨secret:private-key")


def test_the_secret_that_goes_with_an_aws_key_id_goes() -> None:
    assert len(AWS_SECRET) == 40
    assert AWS_SECRET not in redact(f"{AWS_ID}\n{AWS_SECRET}\n")


def test_the_same_secret_gives_the_same_placeholder_and_another_one_another() -> None:
    """O76"""
    other = GITHUB[:-1] + "b"
    assert redact(GITHUB) == redact(f"{GITHUB}")
    assert redact(GITHUB) != redact(other)
    assert redact(GITHUB).startswith("⟨secret:github-token:")


def test_the_placeholder_of_a_guessable_secret_tells_nothing_about_it() -> None:
    assert redact("password=hunter2") == redact("password=swordfish1") == "password=⟨secret:password⟩"


@given(
    st.lists(
        st.sampled_from([*SECRETS.values(), *ASSIGNED, *HARMLESS, " ", "\n", '"', "x", "=", "⟨secret:x⟩", "\ud800"])
    )
)
@settings(deadline=None, max_examples=60)
def test_redaction_is_idempotent(pieces: list[str]) -> None:
    once = redact("".join(pieces))
    assert redact(once) == once
    assert not contains_secret(once)


@given(st.text(max_size=200))
@settings(deadline=None, max_examples=60)
def test_any_text_survives_redaction_without_an_error(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_calls_with_json_strings_and_results_are_redacted_and_counted() -> None:
    """O7, O78, B41"""
    arguments = json.dumps({"body": json.dumps({"token": GITHUB})})
    call = Message(
        index=0,
        role=Role.ASSISTANT,
        origin=Origin.ASSISTANT,
        text="",
        tool_calls=(ToolCall(id="c", name="Bash", arguments=arguments),),
        digest="d" * 32,
        offset=5,
        end=9,
    )
    redacted, count = redact_messages([call, printed(1, f"TOKEN={GITHUB}")])
    assert GITHUB not in repr(redacted)
    assert count == 2
    assert json.loads(json.loads(redacted[0].tool_calls[0].arguments)["body"])["token"].startswith("⟨secret:")
    assert (redacted[0].digest, redacted[0].offset, redacted[0].end) == ("d" * 32, 5, 9)


def test_a_secret_split_over_two_messages_goes_from_both() -> None:
    """O79"""
    for cut in range(6, len(GITHUB) - 2, 7):
        redacted, _ = redact_messages([human(0, f"the key: {GITHUB[:cut]}"), human(1, f"{GITHUB[cut:]} that was it")])
        assert GITHUB[:cut] not in redacted[0].text
        assert GITHUB[cut:] not in redacted[1].text
        assert redacted[1].text.endswith(" that was it")


def test_a_secret_split_over_two_outputs_goes_from_both() -> None:
    redacted, count = redact_messages(
        [printed(0, f"a {ANTHROPIC[:18]}"), human(1, "go on"), printed(2, ANTHROPIC[18:])]
    )
    assert ANTHROPIC[18:] not in repr(redacted)
    assert count == 2


def test_a_complete_secret_does_not_swallow_the_next_message() -> None:
    redacted, _ = redact_messages([human(0, f"key {GITHUB}"), human(1, "yes, go on")])
    assert redacted[1].text == "yes, go on"


def test_messages_without_secrets_are_the_same_objects() -> None:
    messages = [human(0, "hello"), printed(1, "world")]
    redacted, count = redact_messages(messages)
    assert all(before is after for before, after in zip(messages, redacted, strict=True))
    assert count == 0
