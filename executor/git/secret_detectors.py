"""detect-secrets' detectors as this project uses them: their patterns alone, chosen and configured one by one.

Of a detector only `denylist` or `analyze_string` is used, which are patterns; `analyze_line`, which may ask a service
whether a secret works, is never called. Importing this module is slow (it brings `requests`): import it when there
is something to look at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detect_secrets.filters.heuristic import is_likely_id_string, is_potential_uuid, is_sequential_string
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.high_entropy_strings import (
    Base64HighEntropyString,
    HexHighEntropyString,
    HighEntropyStringsPlugin,
)
from detect_secrets.plugins.keyword import REGEX_BY_FILETYPE, KeywordDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector
from detect_secrets.util.filetype import FileType, determine_file_type

from executor.git.secret_signs import is_environment

# Kind, detector, and what must stand in a text before its pattern is tried (empty: the pattern is cheap anywhere).
# Left out are those whose pattern fits ordinary text (Artifactory, public IP addresses, the IBM family), and web
# tokens, addresses with a password and private keys, for which `secret_signs` has rules of its own.
_TOKENS: tuple[tuple[str, type[RegexBasedDetector], tuple[str, ...]], ...] = (
    ("an AWS key", AWSKeyDetector, ("AKIA", "ASIA", "ABIA", "ACCA", "A3T", "aws", "AWS", "Aws")),
    ("an Azure storage key", AzureStorageKeyDetector, ("AccountKey=",)),
    ("a Discord bot token", DiscordBotTokenDetector, (".",)),
    ("a GitHub token", GitHubTokenDetector, ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    ("a GitLab token", GitLabTokenDetector, ("gl", "GR1348941")),
    ("a Mailchimp key", MailchimpDetector, ("-us",)),
    ("an npm token", NpmDetector, (":_authToken=",)),
    ("an OpenAI key", OpenAIDetector, ("T3BlbkFJ",)),
    ("a PyPI token", PypiTokenDetector, ("pypi-",)),
    ("a SendGrid key", SendGridDetector, ("SG.",)),
    ("a Slack token", SlackDetector, ("xox", "XOX", "hooks.slack.com")),
    ("a Square secret", SquareOAuthDetector, ("sq0csp-",)),
    ("a Stripe key", StripeDetector, ("k_live_",)),
    ("a Telegram bot token", TelegramBotTokenDetector, (":",)),
    ("a Twilio key", TwilioKeyDetector, ("AC", "SK")),
)
BASE64_LIMIT = 4.5  # bits a character; detect-secrets' own default
HEX_LIMIT = 3.0
_RANDOM_MIN = 24  # characters: shorter strings reach the limits by chance
_RANDOM_MAX = 200  # longer strings are encoded data
_TOKEN_MIN = 16  # characters: a shorter group of a pattern is the token's prefix (`ghp`), not the token
_NAMES_LIMIT = 8  # telling names on one line; more is data, and costly to search
_NAME = re.compile(r"pass|pwd|secret|contrase|key", re.I)
_TELLING = re.compile(r"key|token|secret|salt|auth|passw|cred|signature", re.I)
# what precedes a string that is a fingerprint of something public
_FINGERPRINT = re.compile(
    r"sha\d|md5|hash|integrity|checksum|digest|etag|commit|revision|\brev\b|nonce|base64,|public.?key|fingerprint"
    r"|\bid\b|uuid|guid|alphabet|charset|sha-", re.I
)  # fmt: skip
_DIGEST_LENGTHS = frozenset({32, 40, 56, 64, 96, 128})


class Detectors:
    """The detectors, made once. Holds no state between texts."""

    def __init__(self) -> None:
        self._tokens = [(kind, detector(), needles) for kind, detector, needles in _TOKENS]
        self._names = KeywordDetector()
        self._base64 = Base64HighEntropyString(BASE64_LIMIT)
        self._hex = HexHighEntropyString(HEX_LIMIT)

    def tokens(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield (kind, value) of what carries its kind in itself."""
        for kind, detector, needles in self._tokens:
            if any(needle in text for needle in needles):
                yield from ((kind, value) for value in _values(detector, text))

    def named_values(self, path: str, text: str) -> Iterator[str]:
        """Yield values that stand under a telling name: in quotes in code, also without in files of settings."""
        if not 0 < len(_NAME.findall(text)) <= _NAMES_LIMIT:
            return
        kind = FileType.CONFIG if is_environment(path) else determine_file_type(path)
        yield from self._names.analyze_string(text, REGEX_BY_FILETYPE.get(kind))

    def random_strings(self, text: str) -> Iterator[str]:
        """Yield quoted strings that are random in all likelihood, and neither digests nor ids."""
        for value in self._base64.analyze_string(text):
            mixed = any(map(str.isupper, value)) and any(map(str.islower, value)) and any(map(str.isdigit, value))
            if mixed and self._is_random(self._base64, value, text):
                yield value
        for value in self._hex.analyze_string(text):
            digest = len(value) in _DIGEST_LENGTHS and not _TELLING.search(text)
            if not digest and not value.isdigit() and self._is_random(self._hex, value, text):
                yield value

    def _is_random(self, detector: HighEntropyStringsPlugin, value: str, text: str) -> bool:
        return (
            _RANDOM_MIN <= len(value) <= _RANDOM_MAX
            and detector.calculate_shannon_entropy(value) > detector.entropy_limit
            and not self._is_public(value, text)
        )

    def _is_public(self, value: str, text: str) -> bool:
        before = text[: max(text.find(value), 0)]
        return bool(
            _FINGERPRINT.search(before + value[:8])
            or is_potential_uuid(value)
            or is_sequential_string(value)
            or is_likely_id_string(value, text)
        )


def _values(detector: RegexBasedDetector, text: str) -> Iterator[str]:
    """Yield what the detector's patterns match, but for what is only a piece of a longer run, as in encoded data."""
    for pattern in detector.denylist:
        for match in pattern.finditer(text):
            before = text[match.start() - 1 : match.start()]
            if not (before.isalnum() or before == "+"):
                captured = max((group or "" for group in match.groups()), key=len, default="")
                yield captured if len(captured) >= _TOKEN_MIN else match[0]
