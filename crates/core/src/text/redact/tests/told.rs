//! Tests with credentials as users write them in notes, and with similar code, names and sentences.

use super::*;

const UUID: &str = "5f913735-fd82-4898-bfb0-3364d929c421";

#[test]
fn short_tokens_are_redacted_after_a_secret_name() {
    for (text, secret) in [
        ("Authorization: Bearer abcdef123456", "abcdef123456"),
        ("curl -H 'Authorization: Bearer abcdef123456' https://host", "abcdef123456"),
        ("{\\\"Authorization\\\": \\\"Bearer abcdef123456\\\"}", "abcdef123456"),
        ("headers[\"Authorization\"] = \"Bearer abcdef123456\"", "abcdef123456"),
        ("https://host/cb?access_token=4k2jh3k4j5h2k3&x=1", "4k2jh3k4j5h2k3"),
        ("https://host/cb#access_token=4k2jh3k4j5h2k3&x=1", "4k2jh3k4j5h2k3"),
        ("/cb?token=abcdef0123456789abcdef&x=1", "abcdef0123456789abcdef"),
        ("GET /api?api_key=abcdef0123456789 HTTP/1.1", "abcdef0123456789"),
        ("GET /api?x=1&api_key=abcdef0123456789 HTTP/1.1", "abcdef0123456789"),
        ("access_token: \"4k2jh3k4j5h2k3\"", "4k2jh3k4j5h2k3"),
        ("{\"refreshToken\":\"4k2jh3k4j5h2k3\",\"b\":1}", "4k2jh3k4j5h2k3"),
        ("refresh_token: 4k2jh3k4j5h2k3\nport: 80\n", "4k2jh3k4j5h2k3"),
        ("token: 4k2jh3k4j5h2k3", "4k2jh3k4j5h2k3"),
        ("TOKEN=4k2jh3k4j5h2k3\n", "4k2jh3k4j5h2k3"),
    ] {
        taken_out(text, secret);
    }
    for text in [
        "Authorization: Bearer abc123",
        "Authorization: Bearer authentication",
        "Authorization: Bearer my-token-123",
        "Authorization: Bearer REDACTED-bearer-token",
        "Bearer RFC6750-style headers",
        "https://host/list?page_token=4k2jh3k4j5h2k3&x=1",
        "https://host/list?token=second-page&x=1",
        "https://host/list?access_token=$ACCESS_TOKEN&x=1",
        "GET /api?api_key=YOUR_API_KEY_1 HTTP/1.1",
        "token: 0x7ffe5a3c9d40",
        "token: 4k2jh3",
        "token: parse2Lines(first4, k2)",
        "token: \"test-token-1a2b\"",
        "token: 2026-03-04T10-11-12",
        "next_token: 4k2jh3k4j5h2k3",
    ] {
        untouched(text);
    }
}

#[test]
fn a_password_among_other_settings_is_redacted() {
    for text in [
        "password=hunter2,user=bob",
        "user=bob,password=hunter2,host=db",
        "password: hunter2, username: bob",
        "{password: hunter2, user: bob}",
        "{ user: bob, password: hunter2 }",
        "(password: hunter2)",
        "(user bob, password: hunter2).",
        "[password=hunter2]",
        "connect(password=hunter2, host=x)",
        "connect(\n    password=hunter2,\n    host=x,\n)",
        "password: hunter2; user: bob",
    ] {
        taken_out(text, "hunter2");
    }
    for text in [
        "password: str, user: str",
        "fn f(password: u8, x: i32)",
        "f(password=x1, y)",
        "f(password=abc12, y)",
        "struct Login { password: Bytes32, user: Bytes32 }",
        "function login(password: bytes32, user: address)",
        "login(password=response1, user=response2)",
        "login({password: inputs2, user: u})",
        "login(password=newValue2, user=bob)",
        "login({ password: other12, user })",
        "login(password=result22[0], user=bob)",
        "password = buffer1, user = buffer2;",
        "let [password: field12] = form",
    ] {
        untouched(text);
    }
}

#[test]
fn a_password_in_a_sentence_or_table_is_redacted() {
    for (text, secret) in [
        ("Use the password hunter2 for the first sign-in.", "hunter2"),
        ("Log in with the password hunter2.", "hunter2"),
        ("Log in with the password hunter2, then go on", "hunter2"),
        ("bob signs in with password Winter2026!", "Winter2026!"),
        ("use password hunter2 there", "hunter2"),
        ("log in with the password admin123", "admin123"),
        ("Password for bob: hunter2", "hunter2"),
        ("The password for the admin account: `hunter2`", "hunter2"),
        ("Password for bob@host: hunter2\n", "hunter2"),
        ("| user | bob |\n| password | hunter2 |\n", "hunter2"),
        ("| Password | `hunter2` | ours |", "hunter2"),
        ("|password|hunter2|", "hunter2"),
    ] {
        taken_out(text, secret);
    }
    for text in [
        "Hash the password sha256 first",
        "the password argon2id variant",
        "the password RFC2898 speaks of",
        "with the password server12 asks for",
        "with password postgres16 refuses",
        "with password abc12",
        "with password authentication",
        "a password hunter2",
        "Use the password field12 for it",
        "The password for bob is wrong",
        "Password for bob: see step22",
        "Password for bob: at least 12chars",
        "Password for bob: ${PASSWORD1}",
        "| password | varchar255 |",
        "| password | string | at least 12chars |",
        "| password | required |",
        "| password | hunter2 is not a good one |",
        "| password_hash | hunter2 |",
    ] {
        untouched(text);
    }
}

#[test]
fn a_uuid_used_as_a_credential_is_redacted() {
    for before in [
        "HEROKU_API_KEY=",
        "api_key=",
        "//registry.host/:_authToken=",
        "ACCESS_TOKEN=",
        "\"apiToken\": \"",
        "Authorization: Bearer ",
        "curl -H 'Authorization: Bearer ",
    ] {
        let behind = if before.contains('"') { "\"" } else { "" };
        let behind = if before.contains('\'') { "'" } else { behind };
        taken_out(&format!("{before}{UUID}{behind}\n"), UUID);
    }
    for before in ["token=", "Bearer ", "sessionToken: ", "access_token_id: ", "the auth token "] {
        untouched(&format!("{before}{UUID}\n"));
    }
}

#[test]
fn resource_names_and_length_limits_stay() {
    for text in [
        "secret: arn:aws:secretsmanager:eu-central-1:123456789012:secret:db-AbCdEf",
        "\"arn:aws:secretsmanager:eu-central-1:123456789012:secret:db-AbCdEf\"",
        "secret: mysecret-7f8d9",
        "- secret: db-credentials-7f8d9\n",
        "password: min8max64",
        "password: min8,max64",
        "password: 8to64chars",
    ] {
        untouched(text);
    }
    for (text, secret) in [
        ("secret: 7f8d9a0b3c4e5f6a7b8c", "7f8d9a0b3c4e5f6a7b8c"),
        ("client_secret: mysecret-7f8d9", "mysecret-7f8d9"),
        ("secret=mysecret-7f8d9", "mysecret-7f8d9"),
        ("password: max2min7x", "max2min7x"),
        ("arn secret: 7f8d9a0b3c4e5f6a7b8c", "7f8d9a0b3c4e5f6a7b8c"),
    ] {
        taken_out(text, secret);
    }
}
