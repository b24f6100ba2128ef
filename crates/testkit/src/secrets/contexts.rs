//! The contexts of secrets: files, command lines, transcripts, logs and prose.
//!
//! In a template, `{v}` is the value; `{NAME}`, `{name}`, `{camel}`, `{kebab}` and `{words}` are
//! its name in five spellings.

use super::formats::{Format, Reach, Value};

/// What a context reveals about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing.
    Bare,
    /// A telling name is nearby.
    Near,
    /// The value is assigned to a telling name.
    Assigned,
    /// The value is assigned to a telling name, in quotes.
    Quoted,
    /// The value is a URL parameter, percent-encoded.
    Query,
    /// A program or a file format expects a password here.
    Login,
    /// The value continues on the next line.
    Split,
    /// Something that a reader does not see splits the value.
    Hidden,
    /// The value is in a manifest that declares it a secret.
    Manifest,
    /// The value is an HTTP header.
    Header,
    /// The value is a block of lines.
    Block,
    /// The value is the private key of a service account.
    ServiceAccount,
}

/// A template for the text around a value.
pub(super) struct Context {
    pub(super) name: &'static str,
    pub(super) place: Place,
    /// The separator between two lines of the value; `#` is the line number.
    between: &'static str,
    template: &'static str,
}

/// Shorter values are not split into lines in practice.
const SPLIT_BYTES_MIN: usize = 90;
const SPLIT_COLUMNS: usize = 60;
/// How many letters are between two places where something hidden splits a value.
const HIDDEN_COLUMNS: usize = 9;

impl Context {
    /// Whether a value of this format occurs in such a context in practice.
    pub(super) fn suits(&self, format: &Format, value: &Value) -> bool {
        use Place::{
            Assigned, Bare, Block, Header, Hidden, Login, Manifest, Near, Query, Quoted, Split,
        };
        let places: &[Place] = match format.reach {
            Reach::Anywhere => &[Bare, Near, Assigned, Quoted, Query, Split, Hidden, Manifest],
            Reach::Named => &[Near, Assigned, Quoted, Query, Split, Hidden, Manifest],
            Reach::Assigned => &[Assigned, Quoted, Query, Hidden, Manifest],
            Reach::Password => &[Assigned, Quoted, Login, Manifest],
            Reach::Passphrase => &[Quoted],
            Reach::Url => &[Bare, Near, Assigned, Quoted],
            Reach::Header => &[Header],
            Reach::Pem => &[Block],
            Reach::ServiceAccount => &[Place::ServiceAccount],
        };
        let is_long_enough = self.place != Split || value.text.len() >= SPLIT_BYTES_MIN;
        places.contains(&self.place) && is_long_enough
    }

    /// The whole text, and the secret as it appears in it.
    pub(super) fn write(&self, name: &str, value: &Value) -> (String, String) {
        let written = self.lay_out(&value.text);
        let secret = self.secret_in(&written, &value.secret);
        let snake = name.to_lowercase().replace('-', "_");
        let text = self
            .template
            .replace("{NAME}", name)
            .replace("{name}", &snake)
            .replace("{camel}", &camel(&snake))
            .replace("{kebab}", &snake.replace('_', "-"))
            .replace("{words}", &snake.replace('_', " "))
            .replace("{v}", &written);
        (text, secret)
    }

    fn lines(&self, text: &str) -> Vec<String> {
        match self.place {
            Place::Split | Place::Hidden => text
                .as_bytes()
                .chunks(if self.place == Place::Split { SPLIT_COLUMNS } else { HIDDEN_COLUMNS })
                .map(|line| String::from_utf8_lossy(line).into_owned())
                .collect(),
            Place::Query => vec![percent_encoded(text)],
            Place::Bare
            | Place::Near
            | Place::Assigned
            | Place::Quoted
            | Place::Login
            | Place::Header
            | Place::Manifest
            | Place::Block
            | Place::ServiceAccount => text.split('\n').map(str::to_owned).collect(),
        }
    }

    fn lay_out(&self, text: &str) -> String {
        let mut written = String::new();
        for (index, line) in self.lines(text).iter().enumerate() {
            if index > 0 {
                written.push_str(&self.between.replace('#', &(index + 1).to_string()));
            }
            written.push_str(line);
        }
        written
    }

    /// The secret, from its first line to its last one.
    fn secret_in(&self, written: &str, secret: &str) -> String {
        let lines = self.lines(secret);
        let (first, last) = (&lines[0], &lines[lines.len() - 1]);
        let start = written.find(first.as_str()).expect("the secret is in the value");
        let end = written.rfind(last.as_str()).expect("the secret is in the value") + last.len();
        written[start..end].to_owned()
    }
}

fn camel(snake: &str) -> String {
    let mut words = snake.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at(usize::from(!word.is_empty()));
        name + &initial.to_uppercase() + rest
    })
}

fn percent_encoded(text: &str) -> String {
    let encoded = |c: char| match c {
        '+' | '/' | '=' | ':' | '&' | '#' | '%' => format!("%{:02X}", u32::from(c)),
        _ => c.to_string(),
    };
    text.chars().map(encoded).collect()
}

const fn at(place: Place, name: &'static str, template: &'static str) -> Context {
    Context { name, place, between: "\n", template }
}

const fn joined(
    place: Place,
    name: &'static str,
    between: &'static str,
    template: &'static str,
) -> Context {
    Context { name, place, between, template }
}

/// All contexts.
pub(super) fn contexts() -> impl Iterator<Item = &'static Context> {
    BARE.iter()
        .chain(&NEAR)
        .chain(&ASSIGNED)
        .chain(&QUOTED)
        .chain(&LOGIN)
        .chain(&WIRE)
        .chain(&LINES)
        .chain(&HIDDEN)
        .chain(&MANIFESTS)
}

const BARE: [Context; 23] = [
    at(Place::Bare, "alone", "{v}"),
    at(Place::Bare, "prose", "I put {v} into the CI settings yesterday, it still works."),
    at(Place::Bare, "end of sentence", "The one that works on staging is {v}.\nNext: rotate it."),
    at(Place::Bare, "parentheses", "We used the old one ({v}) until March."),
    at(Place::Bare, "inline code", "Use `{v}` for the staging account."),
    at(Place::Bare, "list item", "## Open\n\n- {v}\n- ask who owns it\n"),
    at(Place::Bare, "bold", "It is **{v}**, do not lose it."),
    at(Place::Bare, "table", "| account | value |\n|---|---|\n| staging | {v} |\n"),
    at(Place::Bare, "fenced", "```\n$ cat out.txt\n{v}\n```\n"),
    at(Place::Bare, "csv", "staging,{v},active,2026-03-04"),
    at(Place::Bare, "html", "<p>Sign in with <code>{v}</code></p>"),
    at(Place::Bare, "json array", r#"{"values": ["{v}", "second"]}"#),
    at(Place::Bare, "json output", r#"{"type":"tool_result","stdout":"{v}\n","stderr":""}"#),
    at(Place::Bare, "json after escaped line break", r#"{"text":"Logged in.\n{v}\nDone."}"#),
    at(Place::Bare, "json after escaped tab", r#"{"text":"staging\t{v}\tactive"}"#),
    at(Place::Bare, "json call escaped", r#"{"content":"call login(\"{v}\") first"}"#),
    at(Place::Bare, "json call escaped twice", r#"{"line":"{\"args\":\"login \\\"{v}\\\"\\n\"}"}"#),
    at(Place::Bare, "call", "client = Client(\"{v}\")"),
    at(Place::Bare, "comment", "    // worked with {v} on 2026-01-07\n    connect();"),
    at(Place::Bare, "pipe", "$ echo {v} | tool login --stdin"),
    at(Place::Bare, "diff of a bare line", "@@ -1 +1 @@\n-old\n+{v}\n"),
    at(Place::Bare, "log", "2026-03-04T10:11:12Z WARN rejected {v} (401)"),
    at(Place::Bare, "numbered lines", "     1\t# notes\n     2\t{v}\n     3\t\n"),
];

const NEAR: [Context; 7] = [
    at(Place::Near, "named in prose", "The {words} is {v} and it expires in May."),
    at(Place::Near, "named in prose, code", "For the {words} use `{v}`, see the wiki."),
    at(Place::Near, "named before a colon", "- {words}: {v}\n- region: eu-central-1\n"),
    at(Place::Near, "variable in prose", "I set `{NAME}` to `{v}` in the dashboard."),
    at(
        Place::Near,
        "container environment",
        "        env:\n          - name: {NAME}\n            value: \"{v}\"\n          - name: PORT\n            value: \"80\"\n",
    ),
    at(Place::Near, "table with name", "| variable | value |\n|---|---|\n| {NAME} | `{v}` |\n"),
    at(
        Place::Near,
        "json name and value",
        r#"{"key":"{NAME}","value":"{v}","target":["preview"]}"#,
    ),
];

const ASSIGNED: [Context; 26] = [
    at(Place::Assigned, "yaml tag", "service:\n  {name}: !!str {v}\n  port: 5432\n"),
    at(Place::Assigned, "yaml anchor", "service:\n  {name}: &shared {v}\nother: *shared\n"),
    at(Place::Assigned, "yaml intrinsic", "Environment:\n  {NAME}: !Sub {v}\n"),
    at(Place::Assigned, "make immediate", "{NAME} ::= {v}\n\nall: build\n"),
    at(Place::Assigned, "env", "# staging\nPORT=3000\n{NAME}={v}\nLOG_LEVEL=debug\n"),
    at(Place::Assigned, "env last line", "{NAME}={v}"),
    at(Place::Assigned, "export", "export {NAME}={v}\nmake deploy"),
    at(Place::Assigned, "before a command", "$ {NAME}={v} npm run publish"),
    at(Place::Assigned, "make", "{NAME} := {v}\n\nall: build\n"),
    at(Place::Assigned, "properties", "service.host=example.com\nservice.{name}={v}\n"),
    at(Place::Assigned, "ini", "[default]\nregion = eu-west-1\n{name} = {v}\n"),
    at(Place::Assigned, "yaml", "service:\n  host: example.com\n  {name}: {v}\n  port: 5432\n"),
    at(Place::Assigned, "yaml camel", "service:\n  {camel}: {v}\n"),
    at(Place::Assigned, "yaml with comment", "{name}: {v} # rotate in May\n"),
    at(Place::Assigned, "yaml list", "environment:\n  - PORT=80\n  - {NAME}={v}\n"),
    at(
        Place::Assigned,
        "yaml block",
        "data:\n  .env: |\n    PORT=80\n    {NAME}={v}\n    MODE=prod\n",
    ),
    at(Place::Assigned, "flag with space", "tool deploy --{kebab} {v} --region eu"),
    at(Place::Assigned, "flag with equals", "tool deploy --{kebab}={v} --region eu"),
    at(Place::Assigned, "docker run", "docker run --rm -e {NAME}={v} -p 80:80 acme/api"),
    at(Place::Assigned, "dockerfile", "FROM alpine\nENV {NAME}={v}\nRUN make\n"),
    at(Place::Assigned, "diff", "@@ -3 +3 @@\n PORT=80\n-{NAME}=\n+{NAME}={v}\n"),
    at(Place::Assigned, "diff removed", "@@ -3,2 +3 @@\n PORT=80\n-{NAME}={v}\n"),
    at(Place::Assigned, "log pair", "10:11:12 ERROR sync failed user=7 {name}={v} status=401"),
    at(Place::Assigned, "json escaped env", r#"{"content":"PORT=80\n{NAME}={v}\nMODE=prod\n"}"#),
    at(
        Place::Assigned,
        "json escaped env twice",
        r#"{"l":"{\"c\":\"PORT=80\\n{NAME}={v}\\nM=1\"}"}"#,
    ),
    at(Place::Assigned, "numbered env", "     6\tPORT=80\n     7\t{NAME}={v}\n     8\tMODE=prod\n"),
];

const QUOTED: [Context; 37] = [
    at(Place::Quoted, "php constant", "<?php\ndefine( '{NAME}', '{v}' );\n"),
    at(Place::Quoted, "php default", "${name} = getenv('{NAME}') ?: '{v}';\n"),
    at(Place::Quoted, "go environment", "\tos.Setenv(\"{NAME}\", \"{v}\")\n"),
    at(Place::Quoted, "python default", "value = os.environ.get(\"{NAME}\", \"{v}\")\n"),
    at(
        Place::Quoted,
        "xml setting",
        "<setting name=\"{camel}\" serializeAs=\"String\">\n  <value>{v}</value>\n</setting>\n",
    ),
    at(Place::Quoted, "plist", "<dict>\n  <key>{camel}</key>\n  <string>{v}</string>\n</dict>\n"),
    at(Place::Quoted, "yaml tag quoted", "service:\n  {name}: !!str \"{v}\"\n"),
    at(Place::Quoted, "yaml anchor quoted", "service:\n  {name}: &shared '{v}'\n"),
    at(Place::Quoted, "php appended", "<?php\n${name} .= '{v}';\n"),
    at(Place::Quoted, "go typed", "var {camel} string = \"{v}\"\n"),
    at(Place::Quoted, "c array", "static const char {name}[] = \"{v}\";\n"),
    at(Place::Quoted, "default value", "const {camel} = process.env.{NAME} || \"{v}\";\n"),
    at(
        Place::Quoted,
        "xml over lines",
        "<server>\n  <{camel}>\n    {v}\n  </{camel}>\n</server>\n",
    ),
    at(Place::Quoted, "json", r#"{"host": "example.com", "{name}": "{v}", "port": 8080}"#),
    at(Place::Quoted, "json compact", r#"{"host":"example.com","{camel}":"{v}","port":8080}"#),
    at(
        Place::Quoted,
        "json nested",
        "{\n  \"auth\": {\n    \"{camel}\": \"{v}\",\n    \"user\": \"app\"\n  }\n}\n",
    ),
    at(
        Place::Quoted,
        "json escaped",
        r#"{"role":"user","content":"put \"{name}\": \"{v}\" there\nthen restart"}"#,
    ),
    at(
        Place::Quoted,
        "json escaped compact",
        r#"{"arguments":"{\"{camel}\":\"{v}\",\"region\":\"eu\"}"}"#,
    ),
    at(
        Place::Quoted,
        "json escaped twice",
        r#"{"l":"{\"arguments\":\"{\\\"{name}\\\": \\\"{v}\\\"}\"}"}"#,
    ),
    at(Place::Quoted, "env quoted", "{NAME}=\"{v}\"\nPORT=80\n"),
    at(Place::Quoted, "env single quotes", "PORT=80\n{NAME}='{v}'\n"),
    at(Place::Quoted, "export quoted", "export {NAME}='{v}' && make deploy"),
    at(Place::Quoted, "json escaped export", r#"{"command":"export {NAME}=\"{v}\" && make"}"#),
    at(Place::Quoted, "powershell", "$env:{NAME} = \"{v}\"\n"),
    at(Place::Quoted, "yaml quoted", "service:\n  {name}: \"{v}\"\n  port: 80\n"),
    at(Place::Quoted, "yaml single quotes", "service:\n  {name}: '{v}'\n"),
    at(Place::Quoted, "toml", "[service]\nhost = \"example.com\"\n{name} = \"{v}\"\n"),
    at(Place::Quoted, "flag quoted", "tool deploy --{kebab} '{v}' --region eu"),
    at(Place::Quoted, "python", "{NAME} = \"{v}\"\n\ndef main():\n    pass\n"),
    at(Place::Quoted, "python dictionary", "config = {'host': 'db', '{name}': '{v}'}"),
    at(Place::Quoted, "python argument", "connect(host=\"db\", {name}=\"{v}\", port=1)"),
    at(Place::Quoted, "environment in python", "os.environ[\"{NAME}\"] = \"{v}\""),
    at(Place::Quoted, "javascript", "const {camel} = '{v}';\nmodule.exports = {};\n"),
    at(Place::Quoted, "javascript object", "const options = { {camel}: \"{v}\", retries: 3 };"),
    at(Place::Quoted, "go", "\t{camel} := \"{v}\"\n\tclient := New({camel})\n"),
    at(Place::Quoted, "rust", "const {NAME}: &str = \"{v}\";\n"),
    at(
        Place::Quoted,
        "diff of json",
        "@@ -3 +3 @@\n-    \"{camel}\": \"\",\n+    \"{camel}\": \"{v}\",\n",
    ),
];

const LOGIN: [Context; 17] = [
    at(Place::Login, "positional argument", "client.auth('deploy', '{v}')"),
    at(Place::Login, "basic authentication", "requests.get(url, auth=(\"deploy\", \"{v}\"))"),
    at(Place::Login, "login call", "server.login(\"deploy@example.com\", \"{v}\")\n"),
    at(Place::Login, "builder", "new Factory().setUsername(\"app\").setPassword(\"{v}\");"),
    at(Place::Login, "database handle", "$db = new PDO($dsn, 'app', '{v}', $options);"),
    at(Place::Login, "curl user quoted", "curl -sS -u 'deploy:{v}' https://api.example.com/v1"),
    at(
        Place::Login,
        "curl user option",
        "curl --user \"deploy\":\"{v}\" https://api.example.com/v1",
    ),
    at(Place::Login, "curl without user", "curl -u \":{v}\" https://api.example.com/v1"),
    at(
        Place::Login,
        "curl over lines",
        "curl -X POST \\\n  --user deploy:{v} \\\n  https://api.example.com/v1\n",
    ),
    at(Place::Login, "netrc", "machine git.example.com login deploy password {v}\n"),
    at(Place::Login, "curl user", "curl -u deploy:{v} https://api.example.com/v1/items"),
    at(Place::Login, "sshpass", "sshpass -p '{v}' ssh root@10.0.0.4 uptime"),
    at(Place::Login, "docker login", "docker login -u deploy -p {v} registry.example.com"),
    at(Place::Login, "sql", "CREATE USER app WITH PASSWORD '{v}';"),
    at(Place::Login, "sql identified", "CREATE USER 'app'@'%' IDENTIFIED BY '{v}';"),
    at(Place::Login, "data source name", "psql \"host=db user=app password={v} dbname=shop\""),
    at(Place::Login, "xml", "<server><username>ci</username><password>{v}</password></server>"),
];

const WIRE: [Context; 14] = [
    at(
        Place::Query,
        "url query",
        "GET https://api.example.com/v1/items?limit=20&{name}={v}&page=2",
    ),
    at(Place::Query, "url query first", "see https://api.example.com/items?{name}={v} for more"),
    at(
        Place::Query,
        "url query in json",
        r#"{"url":"https://api.example.com/v1?{name}={v}","status":200}"#,
    ),
    at(
        Place::Header,
        "http dump",
        "> GET /v1/items HTTP/1.1\n> Host: api.example.com\n> {NAME}: {v}\n> Accept: */*\n",
    ),
    at(
        Place::Header,
        "http",
        "POST /v1 HTTP/1.1\r\nHost: api.example.com\r\n{NAME}: {v}\r\n\r\n{}",
    ),
    at(Place::Header, "http lower case", "host: api.example.com\n{kebab}: {v}\naccept: */*\n"),
    at(Place::Header, "curl", "curl -s -H \"{NAME}: {v}\" https://api.example.com/v1/items"),
    at(Place::Header, "curl single quotes", "curl -H '{NAME}: {v}' https://api.example.com/v1"),
    at(
        Place::Header,
        "curl in json",
        r#"{"command":"curl -H \"{NAME}: {v}\" https://api.example.com"}"#,
    ),
    at(Place::Header, "json headers", r#"{"headers": {"Accept": "*/*", "{NAME}": "{v}"}}"#),
    at(Place::Header, "python headers", "headers = {\"{NAME}\": \"{v}\"}"),
    at(Place::Header, "javascript headers", "fetch(url, { headers: { '{NAME}': '{v}' } })"),
    at(Place::Header, "yaml headers", "headers:\n  {NAME}: {v}\n  Accept: json\n"),
    at(Place::Header, "http log", "DEBUG send: b'GET / HTTP/1.1\\r\\n{NAME}: {v}\\r\\n\\r\\n'"),
];

const LINES: [Context; 20] = [
    joined(Place::Split, "shell continuation", "\\\n", "export {NAME}={v}\nmake deploy\n"),
    joined(
        Place::Split,
        "shell continuation in quotes",
        "\\\n",
        "tool --{kebab} \"{v}\" --region eu",
    ),
    joined(Place::Split, "yaml folded", "\n    ", "service:\n  {name}: >-\n    {v}\n  port: 80\n"),
    joined(Place::Split, "python literals", "\"\n    \"", "{NAME} = (\n    \"{v}\"\n)\n"),
    joined(Place::Split, "javascript sum", "\" +\n  \"", "const {camel} =\n  \"{v}\";\n"),
    at(Place::Block, "file", "$ cat key.pem\n{v}\n$ ls\n"),
    at(Place::Block, "fenced block", "The key:\n\n```\n{v}\n```\n"),
    joined(
        Place::Block,
        "json literal line breaks",
        "\\n",
        r#"{"private_key": "{v}\n", "port": 1}"#,
    ),
    joined(Place::Block, "json output of a tool", "\\n", r#"{"stdout":"$ cat k\n{v}\n","code":0}"#),
    joined(Place::Block, "json twice escaped", "\\\\n", r#"{"l":"{\"key\":\"{v}\\n\"}"}"#),
    joined(Place::Block, "env line breaks", "\\n", "{NAME}=\"{v}\\n\"\nPORT=80\n"),
    at(Place::Block, "env over lines", "{NAME}=\"{v}\"\nPORT=80\n"),
    joined(Place::Block, "yaml literal block", "\n    ", "tls:\n  {name}: |\n    {v}\n  port: 1\n"),
    joined(Place::Block, "diff of a file", "\n+", "@@ -0,0 +1,27 @@\n+{v}\n"),
    joined(Place::Block, "numbered file", "\n    #\t", "    1\t{v}\n"),
    joined(Place::Block, "quoted in mail", "\n> ", "He wrote:\n\n> {v}\n\nThanks"),
    at(Place::Block, "python literal block", "KEY = \"\"\"{v}\"\"\"\n"),
    joined(
        Place::ServiceAccount,
        "service account",
        "\\n",
        "{\n  \"type\": \"service_account\",\n  \"project_id\": \"acme\",\n  \"{name}\": \"{v}\\n\",\n  \"client_id\": \"104\"\n}\n",
    ),
    joined(
        Place::ServiceAccount,
        "service account compact",
        "\\n",
        r#"GOOGLE_CREDENTIALS='{"type":"service_account","{name}":"{v}\n","client_id":"1"}'"#,
    ),
    joined(
        Place::ServiceAccount,
        "service account in a transcript",
        "\\\\n",
        r#"{"content":"{\n  \"type\": \"service_account\",\n  \"{name}\": \"{v}\\n\"\n}"}"#,
    ),
];

const HIDDEN: [Context; 7] = [
    joined(
        Place::Hidden,
        "colored by grep",
        "\u{1b}[m\u{1b}[K",
        "\u{1b}[35m\u{1b}[Ka.env\u{1b}[0m:{NAME}={v}\u{1b}[0m\n",
    ),
    joined(Place::Hidden, "colors", "\u{1b}[0;38;5;196m", "$ env\nPORT=80\n{NAME}={v}\u{1b}[0m\n"),
    joined(Place::Hidden, "zero width", "\u{200b}", "  \"{camel}\": \"{v}\",\n"),
    joined(Place::Hidden, "soft hyphen", "\u{ad}", "{NAME}={v}\n"),
    joined(Place::Hidden, "direction", "\u{2066}", "export {NAME}=\"{v}\"\n"),
    joined(Place::Hidden, "combining", "\u{332}", "{NAME}='{v}'\n"),
    joined(
        Place::Hidden,
        "json colors",
        r"\u001b[m\u001b[K",
        r#"{"stdout":"\u001b[35ma.env\u001b[0m:{NAME}={v}\n","code":0}"#,
    ),
];

const MANIFESTS: [Context; 5] = [
    at(
        Place::Manifest,
        "kubernetes",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\nstringData:\n  config: {v}\ntype: Opaque\n",
    ),
    at(
        Place::Manifest,
        "kubernetes quoted",
        "kind: Secret\nstringData:\n  port: \"80\"\n  settings.txt: \"{v}\"\ntype: Opaque\n",
    ),
    at(
        Place::Manifest,
        "kubernetes block",
        "kind: Secret\nstringData:\n  settings.txt: |\n    mode 1\n    {v}\ntype: Opaque\n",
    ),
    at(
        Place::Manifest,
        "kubernetes printed",
        "items:\n- apiVersion: v1\n  data:\n    config: {v}\n  kind: Secret\n  metadata:\n    name: app\n",
    ),
    at(
        Place::Manifest,
        "kubernetes in json",
        r#"{"apiVersion":"v1","data":{"config":"{v}"},"kind":"Secret","type":"Opaque"}"#,
    ),
];
