//! Tests with random secrets of every shape in every context, and with text that must stay.

mod harm;
mod hidden;
mod told;

use super::*;

/// A deterministic random number generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }

    fn letters(&mut self, of: &str, count: usize) -> String {
        let of: Vec<char> = of.chars().collect();
        (0..count).map(|_| of[self.roll(of.len())]).collect()
    }
}

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const HEX: &str = "0123456789abcdef";
const SIGNS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!@#%^*_+?~-";

/// Asserts that redacting `text` removes `secret` and nothing else.
#[track_caller]
fn taken_out(text: &str, secret: &str) -> Vec<Redaction> {
    let (clean, found) = CleanText::redact(text);
    assert!(!clean.as_str().contains(secret), "missed `{secret}` in {text}");
    assert_eq!(found.len(), 1, "{text} became {}", clean.as_str());
    let mark = format!("{REDACTION_MARK}{}", found[0].kind);
    assert_eq!(clean.as_str(), text.replacen(secret, &mark, 1), "too much or too little");
    assert_eq!(CleanText::redact(clean.as_str()).1, [], "not clean: {}", clean.as_str());
    found
}

#[track_caller]
fn untouched(text: &str) {
    let (clean, found) = CleanText::redact(text);
    assert!(found.is_empty(), "{text} became {}", clean.as_str());
}

/// Texts that contain a provider token in different contexts.
fn places(token: &str) -> Vec<String> {
    vec![
        token.to_owned(),
        format!("use {token}, it works.\n"),
        format!("`{token}`"),
        format!("{{\"a\":\"{token}\",\"b\":1}}"),
        format!(r#"{{\"text\":\"{token}\"}}"#),
        format!(r#""first line\n{token}\nlast line""#),
        format!(r#""\t{token}\r\n""#),
        format!("KEY={token}\nNEXT=1\n"),
        format!("key: {token}\n"),
        format!("https://host/?a=1&x={token}&b=2"),
        format!("x%3D{token}%26"),
        format!("\u{1b}[32m{token}\u{1b}[0m"),
        format!(r"\u001b[1;32m{token}\u001b[0m"),
        format!("(\"{token}\")"),
        format!("<b>{token}</b>"),
        format!("--flag {token} --other"),
        format!("é{token}é"),
    ]
}

#[test]
fn provider_tokens_are_redacted_in_every_context() {
    let mut dice = Dice(1);
    for _ in 0..20 {
        let mut made: Vec<(&str, String)> = Vec::new();
        let mut push = |kind, token| made.push((kind, token));
        push("aws-key", format!("AKIA{}", dice.letters("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)));
        push("google-key", format!("AIza{}", dice.letters(&format!("{ALNUM}_-"), 34) + "a"));
        push("github-token", format!("ghp_{}", dice.letters(ALNUM, 36)));
        push(
            "github-token",
            format!("github_pat_{}_{}", dice.letters(ALNUM, 22), dice.letters(ALNUM, 59)),
        );
        push("gitlab-token", format!("glpat-{}", dice.letters(ALNUM, 20)));
        push(
            "anthropic-key",
            format!("sk-ant-api03-{}AA", dice.letters(&format!("{ALNUM}_-"), 93)),
        );
        push("openai-key", format!("sk-proj-{}", dice.letters(ALNUM, 48)));
        push(
            "openai-key",
            format!("sk-{}T3BlbkFJ{}", dice.letters(ALNUM, 20), dice.letters(ALNUM, 20)),
        );
        push("openrouter-key", format!("sk-or-v1-{}", dice.letters(HEX, 64)));
        push(
            "slack-token",
            format!(
                "xoxb-{}-{}-{}",
                dice.letters("123456789", 12),
                dice.letters("123456789", 13),
                dice.letters(ALNUM, 24)
            ),
        );
        push("stripe-key", format!("sk_live_{}", dice.letters(ALNUM, 24)));
        push("npm-token", format!("npm_{}", dice.letters(ALNUM, 36)));
        push("pypi-token", format!("pypi-AgEIcHlwaS5vcmc{}", dice.letters(ALNUM, 70)));
        push("huggingface-token", format!("hf_{}", dice.letters(ALNUM, 34)));
        push("sendgrid-key", format!("SG.{}.{}", dice.letters(ALNUM, 22), dice.letters(ALNUM, 43)));
        push(
            "telegram-token",
            format!("{}:AA{}", dice.letters("123456789", 10), dice.letters(ALNUM, 33)),
        );
        push(
            "discord-token",
            format!(
                "MT{}.{}.{}",
                dice.letters(ALNUM, 24),
                dice.letters(ALNUM, 6),
                dice.letters(ALNUM, 38)
            ),
        );
        push("azure-secret", format!("{}8Q~{}", dice.letters(ALNUM, 3), dice.letters(ALNUM, 34)));
        push("mailchimp-key", format!("{}-us12", dice.letters(HEX, 32)));
        push(
            "terraform-token",
            format!("{}.atlasv1.{}", dice.letters(ALNUM, 14), dice.letters(ALNUM, 67)),
        );
        push("twilio-key", format!("SK{}", dice.letters(HEX, 32)));
        push("digitalocean-token", format!("dop_v1_{}", dice.letters(HEX, 64)));
        push(
            "jwt",
            format!(
                "eyJ{}.eyJ{}.{}",
                dice.letters(ALNUM, 33),
                dice.letters(ALNUM, 60),
                dice.letters(ALNUM, 43)
            ),
        );
        push(
            "age-key",
            format!("AGE-SECRET-KEY-1{}", dice.letters("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
        );
        for (kind, token) in made {
            for text in places(&token) {
                let found = taken_out(&text, &token);
                assert_eq!(found[0].kind, kind, "{text}");
            }
        }
    }
}

/// Texts that assign a value to a name in different syntaxes.
fn assignments(name: &str, value: &str) -> Vec<String> {
    let upper = name.to_ascii_uppercase();
    vec![
        format!("{upper}={value}\nNEXT=1\n"),
        format!("export {upper}=\"{value}\"\n"),
        format!("{upper}='{value}'"),
        format!(r#""A=1\n{upper}={value}\nB=2""#),
        format!("{name}: {value}\nnext: 1\n"),
        format!("  {name}: \"{value}\" # ours\n"),
        format!("{name} = '{value}'"),
        format!("{{\"{name}\":\"{value}\",\"b\":1}}"),
        format!("{{\"{name}\" : \"{value}\"}}"),
        format!(r#"{{\"{name}\":\"{value}\",\"b\":1}}"#),
        format!(r#"{{\\\"{name}\\\": \\\"{value}\\\"}}"#),
        format!("let {name}: &'static str = \"{value}\";"),
        format!("const {name}: string = \"{value}\";"),
        format!("config[\"{name}\"] = \"{value}\""),
        format!("<{name}>{value}</{name}>"),
        format!("tool --{name} {value} --other"),
        format!("tool --{name}={value} --other"),
        format!("Server=host;{name}={value};Other=1"),
        format!("- name: {upper}\n  value: {value}\n"),
        format!("{{\"name\": \"{upper}\", \"value\": \"{value}\"}}"),
        format!("**{name}:** {value}\n"),
        format!("{name}: |\n  {value}\nnext: 1\n"),
    ]
}

#[test]
fn values_of_secret_names_are_redacted_in_every_syntax() {
    let mut dice = Dice(2);
    for _ in 0..50 {
        for (name, value) in [
            ("db_password", dice.letters(SIGNS, 16)),
            ("password", dice.letters(ALNUM, 12)),
            ("client_secret", dice.letters(ALNUM, 32)),
            ("api_key", dice.letters(HEX, 32)),
            ("aws_secret_access_key", dice.letters(BASE64, 40)),
            ("access_token", dice.letters(ALNUM, 30)),
            ("private_key", dice.letters(HEX, 64)),
        ] {
            for text in assignments(name, &value) {
                taken_out(&text, &value);
            }
        }
    }
}

#[test]
fn secrets_in_common_grammars_are_redacted() {
    let mut dice = Dice(3);
    for _ in 0..50 {
        let value = dice.letters(ALNUM, 32);
        for text in [
            format!("Authorization: Bearer {value}\n"),
            format!("curl -H 'Authorization: Bearer {value}' https://host"),
            format!(r#"{{\"Authorization\": \"Bearer {value}\"}}"#),
            format!("Authorization: token {value}"),
            format!("\"authorization\": \"{value}\""),
            format!("X-Api-Key: {value}\n"),
            format!("postgres://user:{value}@host:5432/db"),
            format!("redis://:{value}@host:6379"),
            format!("\"url\": \"mongodb+srv://user:{value}@cluster.host/db?w=1\""),
            format!(r"https:\/\/user:{value}@host\/path"),
            format!("https://host/path?access_token={value}&next=1"),
            format!("the API key is {value}, keep it"),
            format!("secret `{value}` was used"),
            format!("machine host login me password {value}\n"),
            format!("curl -u me:{value} https://host"),
            format!("//registry.host/:_authToken={value}\n"),
        ] {
            taken_out(&text, &value);
        }
    }
    taken_out("Authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l", "YWxhZGRpbjpvcGVuc2VzYW1l");
}

#[test]
fn private_keys_are_redacted_with_any_line_breaks() {
    let mut dice = Dice(4);
    for label in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        for lines in [1, 5, 50] {
            let body: Vec<String> = (0..lines).map(|_| dice.letters(BASE64, 64)).collect();
            for (gap, around) in [
                ("\n", "\n"),
                ("\r\n", "\r\n"),
                ("\\n", "\""),
                ("\\r\\n", "\""),
                ("\\\\n", "\\\""),
                ("\n    ", "\n"),
            ] {
                let key = format!(
                    "-----BEGIN {label}PRIVATE KEY-----{gap}{}{gap}-----END {label}PRIVATE KEY-----",
                    body.join(gap)
                );
                let found = taken_out(&format!("a{around}{key}{around}b"), &key);
                assert_eq!(found[0].kind, "private-key");
                taken_out(&format!("\"private_key\": \"{key}\", \"x\": 1"), &key);
                let cut = format!("-----BEGIN {label}PRIVATE KEY-----{gap}{}", body.join(gap));
                taken_out(&format!("a {cut}"), &cut);
            }
        }
    }
    let mut lines: Vec<String> = (0..20).map(|_| dice.letters(BASE64, 76)).collect();
    lines[0].replace_range(..35, "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVk");
    lines.push(format!("{}==", dice.letters(BASE64, 22)));
    let encoded = lines.join("\n");
    taken_out(&format!("client-key-data: {encoded}\n"), &encoded);
    lines[0] = dice.letters(BASE64, 76);
    let wrapped = lines.join("\n  ");
    taken_out(&format!("secret: |\n  {wrapped}\nnext: value\n"), &wrapped);
    untouched("look for `-----BEGIN PRIVATE KEY-----` and `-----END PRIVATE KEY-----` in it");
    untouched("if text.contains(\"-----BEGIN RSA PRIVATE KEY-----\") { return }");
}

/// Syntaxes for multi-line values: the text before, between the lines, and after.
const CONTINUED: [(&str, &str, &str); 12] = [
    ("export API_KEY=", "\\\n", "\nmake"),
    ("tool --api-key \"", "\\\n", "\" --region eu"),
    ("{\"command\":\"export API_KEY=", "\\\\\\n", "\\nmake\"}"),
    ("API_KEY = (\n    \"", "\"\n    \"", "\"\n)\n"),
    ("API_KEY = (\r\n    '", "'\r\n    '", "'\r\n)\r\n"),
    ("{\"text\":\"API_KEY = (\\n  \\\"", "\\\"\\n  \\\"", "\\\"\\n)\"}"),
    ("const apiKey =\n  \"", "\" +\n  \"", "\";\n"),
    ("const apiKey = \"", "\"\n  + \"", "\";\n"),
    ("$api_key = '", "' . '", "';\n"),
    ("const API_KEY: &str = \"", "\\\n    ", "\";\n"),
    ("api_key: >-\n    ", "\n    ", "\nport: 80\n"),
    ("{\"text\":\"api_key: |\\n  ", "\\n  ", "\\nport: 80\\n\"}"),
];

#[test]
fn multi_line_values_are_redacted_as_a_whole() {
    let mut dice = Dice(6);
    for (before, between, behind) in CONTINUED {
        for token in [
            dice.letters(ALNUM, 150),
            format!("sk-ant-api03-{}AA", dice.letters(ALNUM, 93)),
            format!(
                "eyJ{}.eyJ{}.{}",
                dice.letters(ALNUM, 33),
                dice.letters(ALNUM, 60),
                dice.letters(ALNUM, 43)
            ),
        ] {
            let lines: Vec<&str> =
                [&token[..60], &token[60..token.len().min(120)], &token[token.len().min(120)..]]
                    .into_iter()
                    .filter(|line| !line.is_empty())
                    .collect();
            let value = lines.join(between);
            taken_out(&format!("{before}{value}{behind}"), &value);
        }
    }
}

#[test]
fn text_after_a_secret_stays() {
    let token = format!("ghp_{}", "a1B2c3".repeat(6));
    let wide = "a1B2c3Z".repeat(10);
    for (before, behind) in [
        ("TOKEN=", "\na1B2c3a1B2c3a1B2c3a1B2c3\n"),
        ("TOKEN=", " \\\n  make deploy"),
        ("[\"", "\",\n  \"a1B2c3a1B2c3a1B2c3\"]"),
        ("{\"token\": \"", "\"\n  \"name\": 1}"),
        ("tokens: |\n  ", "\n  main\n"),
        ("print(\"", "\" + name)"),
    ] {
        for secret in [&token, &format!("sk-ant-{wide}")] {
            taken_out(&format!("{before}{secret}{behind}"), secret);
        }
    }
}

#[test]
fn a_uuid_assigned_to_a_secret_name_is_redacted() {
    let uuid = "5f913735-fd82-4898-bfb0-3364d929c421";
    for text in [
        format!("HEROKU_API_KEY={uuid}\n"),
        format!("\"client_secret\": \"{uuid}\""),
        format!("password: {uuid}\n"),
    ] {
        taken_out(&text, uuid);
    }
}

#[test]
fn passphrases_are_redacted_and_sentences_stay() {
    for phrase in ["amber Falcon maple 42", "correct horse battery staple"] {
        taken_out(&format!("DB_PASSWORD=\"{phrase}\"\n"), phrase);
        taken_out(&format!("{{\\\"passphrase\\\": \\\"{phrase}\\\"}}"), phrase);
        untouched(&format!("title: \"{phrase}\""));
        untouched(&format!("token: \"{phrase}\""));
    }
    taken_out("MYSQL_PASSWORD=garnet-basalt-805\n", "garnet-basalt-805");
    for sentence in [
        "At least 8 characters",
        "Please enter your password",
        "Confirm the new password",
        "must match the other one",
        "Invalid user or password",
    ] {
        untouched(&format!("\"password\": \"{sentence}\""));
    }
}

#[test]
fn human_chosen_passwords_are_redacted_by_context() {
    for (text, secret) in [
        ("password=correcthorse", "correcthorse"),
        ("host=db password=correcthorse dbname=shop", "correcthorse"),
        ("password: hunter2", "hunter2"),
        ("user: bob\npassword: hunter2\nport: 80\n", "hunter2"),
        ("PASSWORD='two words pass'", "two words pass"),
        ("DB_PASSWORD=hunter2", "hunter2"),
        ("export PGPASSWORD=hunter2\npsql\n", "hunter2"),
        ("wget --http-password=abc12345 https://host", "abc12345"),
        ("tool --password hunter2 --verbose", "hunter2"),
        ("redis-cli -a S3cretPw", "S3cretPw"),
        ("redis-cli -h cache -a hunter2 ping", "hunter2"),
        ("mysql -pS3cretPw", "S3cretPw"),
        ("mysql -u root -phunter2 shop", "hunter2"),
        ("tool --token abc123def456", "abc123def456"),
        ("tool --token=abc123def456 run", "abc123def456"),
        ("curl -s -u admin:hunter2 https://host", "hunter2"),
        ("the password is Xk29fjQpa81LmZ", "Xk29fjQpa81LmZ"),
        ("The password is set to hunter2", "hunter2"),
        ("the password was changed to hunter2", "hunter2"),
        ("the password has been reset to hunter2", "hunter2"),
        ("the password is now set to hunter2", "hunter2"),
        ("the password is: hunter2", "hunter2"),
        ("The admin password is hunter2.", "hunter2"),
        ("the new password is: hunter2", "hunter2"),
        ("the password for root is hunter2", "hunter2"),
        ("password \"hunter2\" works", "hunter2"),
        ("ALTER USER app WITH PASSWORD 'hunter2';", "hunter2"),
        ("the password was `hunter2`, I think", "hunter2"),
        ("I set the password to hunter2, try it", "hunter2"),
        ("{\"password\": \"hunter2\"}", "hunter2"),
        ("{\\\"password\\\":\\\"hunter2\\\"}", "hunter2"),
        ("password = 'hunter2'", "hunter2"),
        ("Server=db;Password=hunter2;Encrypt=True", "hunter2"),
        ("https://host/login?user=me&password=hunter2&next=1", "hunter2"),
        ("<password>hunter2</password>", "hunter2"),
        ("machine host login me password hunter2\n", "hunter2"),
        ("sshpass -p hunter2 ssh host", "hunter2"),
        ("password = hunter2\n", "hunter2"),
        ("\"content\":\"A=1\\nDB_PASSWORD=hunter2\\nB=2\"", "hunter2"),
    ] {
        taken_out(text, secret);
    }
    // The user name may also be a secret or a redaction mark.
    for user in ["kY38Q~a1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7", "REDACTED-azure-secret"] {
        let (clean, _) = CleanText::redact(&format!("-u {user}:Zx9kLm2Pq7Tr4"));
        assert_eq!(clean.as_str(), "-u REDACTED-azure-secret:REDACTED-command-password");
    }
    let (clean, _) = CleanText::redact("curl -u user:pass https://host");
    assert_eq!(clean.as_str(), "curl -u user:REDACTED-command-password https://host");
    let (clean, _) = CleanText::redact("curl -u user:pass -U proxy:swordfish9 https://host");
    let mark = "REDACTED-command-password";
    assert_eq!(clean.as_str(), format!("curl -u user:{mark} -U proxy:{mark} https://host"));
}

#[test]
fn code_about_passwords_stays() {
    for text in [
        "password = None",
        "password: string",
        "password=$PASSWORD",
        "password=${{ secrets.X }}",
        "password: \"<your password>\"",
        "password=os.environ[\"PW\"]",
        "let password = prompt_password();",
        "password: String,",
        "the password is wrong",
        "password is required",
        "password=...",
        "password=***",
        "token: &str",
        "--token TOKEN",
        "tokens: 1550",
        "max_tokens=4096",
        "password_hash",
        "password.len()",
        "Passwords: see vault",
        "connect(user=user, password=pw1234)",
        "connect(\n    user=user,\n    password=candidate\n)",
        "connect(password=password1, port=1)",
        "const password = field2.value;",
        "password: Utf8String",
        "password: Uint8Array,",
        "{ user: name1, password: word22 }",
        "password: word22,",
        "password = rows[0].word1",
        "the password is base64 encoded",
        "the password is sha256 of it",
        "the password is 12 letters",
        "the password is not 8chars",
        "password was changed on 2026-03-04",
        "\"password\": \"string\"",
        "\"password\": \"required\"",
        "password: \"Password\"",
        "PASSWORD=\"Enter your password\"",
        "WRONG_PASSWORD='the password is wrong'",
        "--password prompt",
        "--password-file secrets1.txt",
        "curl -u user:$PASSWORD https://host",
        "curl -u \"$USER:$PASS\" https://host",
        "curl -u <user>:<password> https://host",
        "mysql -p shop",
        "mysql -u root -p",
        "redis-cli -a $REDIS_PASSWORD",
        "docker run -u app:app image",
        "password ~= regex1",
        "if password == other1 {",
        "password: str = Field(min_length=8)",
        "password, err := readLine2()",
        "password: i64",
        "PASSWORD=12",
        "Password: 8 to 64 letters",
    ] {
        untouched(text);
    }
}

#[test]
fn text_without_secrets_stays() {
    let mut dice = Dice(5);
    for _ in 0..50 {
        let hex40 = dice.letters(HEX, 40);
        let hex64 = dice.letters(HEX, 64);
        let base64 = dice.letters(BASE64, 86);
        let image = dice.letters(BASE64, 2000);
        let [a, b, c] = [8, 4, 12].map(|count| dice.letters(HEX, count));
        let uuid = format!("{a}-{b}-4{}-a{}-{c}", &b[1..], &b[1..]);
        let ulid = format!("01{}", dice.letters("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24));
        for text in [
            format!("commit {hex40}"),
            format!("token refresh was fixed in {hex40}"),
            format!("the secret handling of {hex40} is gone"),
            format!("key: {hex64}"),
            format!("cache_key: {hex64}"),
            format!("checksum = \"{hex64}\""),
            format!("\"integrity\": \"sha512-{base64}==\""),
            format!("\"node_modules/jsonwebtoken\":{{\"integrity\":\"sha512-{base64}==\"}}"),
            format!("golang.org/x/oauth2/token v0.1.0 h1:{}=\n", dice.letters(BASE64, 43)),
            format!("--hash=sha256:{hex64}"),
            format!("image: registry/secret-store@sha256:{hex64}"),
            format!("![x](data:image/png;base64,{image}==)"),
            format!("\"session_id\":\"{uuid}\",\"token\":\"{uuid}\""),
            format!("\"sessionKey\": \"{uuid}\""),
            format!("Bearer {uuid}"),
            format!("secret = \"{ulid}\""),
            format!("\"id\":\"toolu_01{}\"", dice.letters(ALNUM, 22)),
            format!("auth token toolu_01{}", dice.letters(ALNUM, 22)),
            format!("token call_{}", dice.letters(ALNUM, 24)),
            format!("token: msg_01{}", dice.letters(ALNUM, 22)),
            format!("ssh-rsa AAAAB3NzaC1yc2E{} key@host", dice.letters(BASE64, 300)),
            format!("public_key: \"{}\"", dice.letters(BASE64, 44)),
            format!("-----BEGIN CERTIFICATE-----\n{image}\n-----END CERTIFICATE-----\n"),
            format!("-----BEGIN PUBLIC KEY-----\\n{image}\\n-----END PUBLIC KEY-----\\n"),
            format!("nextPageToken: \"{}\"", dice.letters(ALNUM, 40)),
            format!("pk_live_{}", dice.letters(ALNUM, 24)),
        ] {
            untouched(&text);
        }
    }
    for text in [
        "src/ghp_handler.rs and sk-ant-colony",
        "AKIAS are trees; AIza is short",
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-ant-api03-your-key-here-and-more-of-it",
        "password: String",
        "password: Option<String>,",
        "token: string | null",
        "password = get_password()",
        "password: \"getHTMLUrlPath\"",
        "pass `isSiteAdmin` through to the feed",
        "password: getpass.getpass('x')",
        "let token = std::env::var(\"GITHUB_TOKEN\")?;",
        "token = os.environ[\"GITHUB_TOKEN\"]",
        "apiKey: process.env.OPENAI_API_KEY",
        "api_key=${OPENAI_API_KEY}",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "PASSWORD=$DB_PASSWORD",
        "password: \"\"",
        "password: ********",
        "password: changeme",
        "password: <password>",
        "api_key: your-api-key-here",
        "secret: my-app-secret",
        "secretName: tls-secret-2024",
        "password: \"Please enter your password\"",
        "\"password\": \"required\"",
        "password_file: /run/secrets/db_password",
        "secret: projects/12345678/secrets/name/versions/1",
        "token_url: https://host/oauth2/token",
        "\"input_tokens\": 123456789, \"max_tokens\": 4096",
        "tokenizer: cl100k_base_tokenizer_v2",
        "model: claude-sonnet-4-5-20250929",
        "auth: claude-3-5-sonnet-20241022",
        "postgres://postgres:postgres@localhost/db",
        "postgres://user:password@localhost/db",
        "postgres://user:${PASSWORD}@host/db",
        "postgres://user:***@host/db",
        "http://localhost:8080/path@2x",
        "https://host:443/@scope/package",
        "git@github.com:owner/name.git",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "Bearer authentication with tokens",
        "Basic authentication is off",
        "docker run -u 1000:1000 image",
        "author: somebody; monkey: 12345678abcdefgh",
        "the token was changed on 2026-11-16T03:23:51Z in authentication.rs",
        "keys are in crates/core/src/redact/assignment.rs:123",
        "secret sharing needs x86_64-unknown-linux-gnu",
        "[key]: https://host/path/to/page-1234abcd",
    ] {
        untouched(text);
    }
}

#[test]
fn overlapping_secrets_are_merged_and_the_most_specific_kind_wins() {
    let token = format!("ghp_{}", "a1B2c3".repeat(6));
    let (clean, found) = CleanText::redact(&format!("password: \"{token}\" x"));
    assert_eq!(clean.as_str(), "password: \"REDACTED-github-token\" x");
    assert_eq!(found.len(), 1);
    let (clean, found) = CleanText::redact(&format!("DB_PASSWORD=pre-{token}-post9 x"));
    assert_eq!(clean.as_str(), "DB_PASSWORD=REDACTED-password x");
    assert_eq!(found.len(), 1);
}

#[test]
fn a_nested_private_key_is_redacted_with_the_outer_one() {
    let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
    let inner = format!("{begin}0A0a0AA0AA0aAaA0{end}");
    for between in ["", "\n"] {
        let text = format!("a\n{begin}{between}{inner}{between}AAaaAaAaAaAAaA0A{end}\nb\n");
        let (clean, _) = CleanText::redact(&text);
        assert_eq!(clean.as_str(), "a\nREDACTED-private-key\nb\n", "{text}");
    }
}

#[test]
fn redacted_json_is_still_valid_json() {
    let rules = with_rule("acme_", "\\S+", false).unwrap();
    let value = serde_json::json!({
        "acme_key": ["acme_one, and \"acme_two\"", "a\\", "\\\"acme_\n", "", 7, {"x": "plain \u{1}"}],
    });
    let (clean, found) = rules.clean_json(&value.to_string());
    assert_eq!(found.len(), 3, "{clean:?}");
    let read: serde_json::Value = serde_json::from_str(clean.as_str()).unwrap();
    let expected = serde_json::json!({
        "REDACTED-acme": ["REDACTED-acme and \"REDACTED-acme", "a\\", "\\\"acme_\n", "", 7, {"x": "plain \u{1}"}],
    });
    assert_eq!(read, expected);
    for odd in ["", "\"", "\"\\", "{\"a", "acme_x"] {
        assert_eq!(rules.clean_json(odd).0.as_str(), odd);
    }
}

fn with_rule(begins: &str, then: &str, multiline: bool) -> Result<RedactionRules, CustomRuleError> {
    let (kind, begins, then) = ("acme".to_owned(), begins.to_owned(), then.to_owned());
    RedactionRules::with_custom(&[CustomRule { kind, begins, then, multiline }])
}

#[test]
fn a_custom_rule_matches_one_line_and_4_kib_at_most() {
    let text = "a par one\r\nb par two\nc\n";
    let one_line = with_rule("par", "(?s).+", false).unwrap();
    assert_eq!(one_line.clean(text).0.as_str(), "a REDACTED-acme\r\nb REDACTED-acme\nc\n");
    let lines = with_rule("par", "(?s).+", true).unwrap();
    assert_eq!(lines.clean(text).0.as_str(), "a REDACTED-acme");
    let continued = "par one \\\n  two\n";
    assert_eq!(one_line.clean(continued).0.as_str(), "REDACTED-acme\n  two\n");
    let long = format!("par{}", "k7-Qz9".repeat(1000));
    for rules in [one_line, lines] {
        let left = format!("REDACTED-acme{}", &long[4096..]);
        assert!(rules.clean(&long).0.as_str() == left);
    }
    assert!(with_rule("par\nty", ".+", true).is_err(), "a prefix is on one line");
}

#[test]
fn a_token_of_letters_near_its_name_is_redacted() {
    // Three capitals follow a small letter, as in few random texts of this length.
    let token = ["lxssYVTC", "tdVXiWNN", "OSIDmihh"].concat();
    taken_out(&format!("I set `VERCEL_TOKEN` to `{token}` in the dashboard."), &token);
    let name = "getAccessTokenFromStore";
    let text = format!("the token comes from `{name}` there");
    assert_eq!(CleanText::redact(&text).0.as_str(), text);
}

#[test]
fn of_a_url_with_a_token_only_the_token_is_redacted() {
    let mut dice = Dice(11);
    let users = [
        "x-access-token",
        "oauth2",
        "gitlab-ci-token",
        "token",
        "apikey",
        "__token__",
        "x-token-auth",
        "api_key",
        "deploy-token",
        "password",
        "secret",
        "user",
        "AWS",
    ];
    let mut tokens = vec!["hunter22".to_owned(), "p4ss@w0rd".to_owned()];
    tokens.extend([HEX, ALNUM, ALNUM].iter().zip([40, 20, 36]).map(|(of, n)| dice.letters(of, n)));
    tokens.push(format!("ghp_{}", dice.letters(ALNUM, 36)));
    tokens.push(format!("glpat-{}", dice.letters(ALNUM, 20)));
    for token in &tokens {
        for user in users {
            for (before, after) in [
                ("https://", "@github.com/org/repo.git"),
                ("git clone https://", "@host:8443/org/repo.git --depth 1"),
                ("GIT_URL=\"https://", "@host/x?ref=main\""),
                ("token_url: https://", "@host/x"),
                (r"https:\/\/", r"@host\/path"),
            ] {
                let text = format!("{before}{user}:{token}{after}");
                let clean = CleanText::redact(&text).0;
                let clean = clean.as_str();
                assert!(clean.starts_with(&format!("{before}{user}:REDACTED-")), "{text}: {clean}");
                assert!(clean.ends_with(after), "{text}: {clean}");
                assert_eq!(clean.matches("REDACTED-").count(), 1, "{text}: {clean}");
            }
        }
    }
    for user in users {
        for text in [
            format!("https://{user}:$TOKEN@github.com/org/repo.git"),
            format!("https://{user}:${{{{ secrets.GITHUB_TOKEN }}}}@github.com/org/repo.git"),
            format!("https://{user}@github.com/org/repo.git"),
            format!("https://{user}:8443/org/repo.git"),
        ] {
            assert_eq!(CleanText::redact(&text).0.as_str(), text);
        }
    }
}

#[test]
fn a_token_that_is_the_user_name_of_a_url_is_redacted() {
    let mut dice = Dice(12);
    for token in
        [dice.letters(HEX, 40), dice.letters(HEX, 64), format!("ghp_{}", dice.letters(ALNUM, 36))]
    {
        for mark in ["", ":", ":x-oauth-basic", ":x-oauth-token"] {
            let text = format!("https://{token}{mark}@github.com/org/repo.git");
            taken_out(&text, &token);
            let clean = CleanText::redact(&text).0;
            let after = format!("{mark}@github.com/org/repo.git");
            assert!(clean.as_str().ends_with(&after), "{text}: {clean:?}");
        }
    }
    for text in [
        "https://1234567890abcdef1234567890abcdef@o1.ingest.sentry.io/42",
        "https://git@github.com/org/repo.git",
        "https://user:x-oauth-basic@github.com/org/repo.git",
        "https://0000000000000000000000000000000000000000@host/path",
    ] {
        assert_eq!(CleanText::redact(text).0.as_str(), text);
    }
}

#[test]
fn an_escaped_invisible_character_hides_no_secret() {
    let mut dice = Dice(13);
    let (head, tail) = (dice.letters(ALNUM, 5), dice.letters(ALNUM, 31));
    for hidden in [
        "\\U0000200B",
        "\\u200b",
        "\\u{200b}",
        "\\x85",
        "\\U0000001B[31m",
        "\\U0000001B]0;t\\U00000007",
        "\\udb40\\udc41",
        "\u{0}",
        "\u{2029}",
    ] {
        let text = format!("title: \"see{hidden}ghp_{head}{hidden}{tail}{hidden} there\"\n");
        let clean = CleanText::redact(&text).0;
        let expected = format!("title: \"see{hidden}REDACTED-github-token{hidden} there\"\n");
        assert_eq!(clean.as_str(), expected);
    }
}

#[test]
fn a_redacted_key_is_no_part_of_another_one() {
    let begin = "-----BEGIN RSA PRIVATE KEY-----";
    let text = format!(
        "{begin}41ce518e5285c9fdfacc79138f844e282c{begin}5yzjeB0JKecBAwYFODQc9cXG2ODNUGQL9q4q"
    );
    let (clean, _) = CleanText::redact(&text);
    let (again, more) = CleanText::redact(clean.as_str());
    assert!(more.is_empty(), "{} became {}", clean.as_str(), again.as_str());
}
