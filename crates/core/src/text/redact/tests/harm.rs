//! Tests with names, file names, versions and data that contain the prefix of a token.

use super::*;

#[test]
fn names_of_files_and_packages_stay() {
    let mut dice = Dice(11);
    for _ in 0..20 {
        let hex = dice.letters(HEX, 32);
        for text in [
            format!("fc-{hex}.js"),
            format!("/assets/key-{hex}.svg"),
            format!("SK{hex}.jpg"),
            format!("\"token\": \"assets/index.{hex}.css\""),
            format!("auth=vendor/main-{}.js", dice.letters(ALNUM, 20)),
            format!("2019-xoxo-2020-10-{}.jpg", dice.letters(ALNUM, 12)),
        ] {
            untouched(&text);
        }
    }
    for text in [
        "io.jsonwebtoken:jjwt-jackson:0.11.2",
        "io.jsonwebtoken: jjwt-jackson-0.11.2",
        "token: jjwt-jackson-0.11.2.jar",
        "\"auth\": \"@scope/oauth2-jwt-bearer@10.21.33\"",
        "hf_requiredCharacteristicValueHasNoHandler",
        "gsk_renderDefaultColorTableForEveryProviderOfTheWindow",
        "sk_live_configuration_of_the_shop",
    ] {
        untouched(text);
    }
}

#[test]
fn base64_data_that_contains_a_prefix_stays() {
    let mut dice = Dice(12);
    for prefix in ["EZAK", "EAAC", "AKIA", "LTAI"] {
        for _ in 0..20 {
            let length = if prefix == "AKIA" { 16 } else { 54 };
            let body = match prefix {
                "AKIA" => dice.letters("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", length),
                _ => dice.letters(ALNUM, length),
            };
            let body = if prefix == "EAAC" { body.repeat(2) } else { body };
            let data = dice.letters(ALNUM, 60);
            untouched(&format!("data:font/woff2;base64,{data}+{prefix}{body}/{data}=="));
            untouched(&format!("{data}/{prefix}{body}+{data}"));
            untouched(&format!("\"{prefix}{body}/{data}\""));
            // The same token is found where it is alone or in a URL.
            let token = format!("{prefix}{body}");
            taken_out(&format!("https://host.example.com/api/v1/{token}"), &token);
            taken_out(&format!("see {token}/"), &token);
        }
    }
}

#[test]
fn only_the_secret_of_a_url_is_redacted() {
    let mut dice = Dice(13);
    let value = dice.letters(ALNUM, 24);
    for (text, secret) in [
        (format!("https://hooks.slack.com/services/T01ABCDEF/B01ABCDEF/{value}"), &value),
        (format!("https://discord.com/api/webhooks/123456789012345678/{value}{value}"), &value),
        (format!("https://hooks.zapier.com/hooks/catch/123456/{}/", "a1b2c3d"), &value),
        (format!("the token api.example.com/v1/items/{value} works"), &value),
        (format!("https://host/path?user=1&access_token={value}&page=2#top"), &value),
    ] {
        let (clean, found) = CleanText::redact(&text);
        assert_eq!(found.len(), 1, "{text} became {}", clean.as_str());
        assert!(!clean.as_str().contains(secret.as_str()), "{}", clean.as_str());
        assert_eq!(text[..found[0].at.start], clean.as_str()[..found[0].at.start]);
        let kept = text[..found[0].at.start].rsplit('/').count();
        assert!(kept > 2, "{text} became {}", clean.as_str());
    }
}

#[test]
fn text_between_a_mentioned_first_line_and_another_key_stays() {
    let mut dice = Dice(14);
    let lines: Vec<String> = (0..3).map(|_| dice.letters(BASE64, 64)).collect();
    let key = format!("{}\n-----END RSA PRIVATE KEY-----", lines.join("\n"));
    let before = "A key begins with `-----BEGIN RSA PRIVATE KEY-----`.\nThis is the end of ours:\n";
    taken_out(&format!("{before}{key}\n"), &key);
    let comment =
        format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\nComment: made for tests\n\n{key}");
    taken_out(&comment, &comment);
    let hash = dice.letters(HEX, 64);
    taken_out(&format!("\"sha256\": \"{hash}\",\n{key}"), &key);
    let path = "/proc/12345/task/12345/fdinfo/17";
    let secret = dice.letters(ALNUM, 64);
    taken_out(&format!("client_secret: {secret}\n{path}\n"), &secret);
}
