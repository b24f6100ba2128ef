//! The formats of secrets, kind by kind, as their providers publish them.

use super::grammar::{base64, base64_url};
use crate::random::Random;

/// What it takes to recognize a kind of secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The format alone.
    Anywhere,
    /// A telling word nearby, because the value is random enough.
    Named,
    /// A telling name that it is assigned to, because it looks like an id or a hash.
    Assigned,
    /// A name that it is assigned to, or a place where a program expects a password; it may be any
    /// text.
    Password,
    /// Quotes, because it contains spaces.
    Passphrase,
    /// The URL or connection string that it is part of.
    Url,
    /// The HTTP header that it is in.
    Header,
    /// The BEGIN and END lines around it.
    Pem,
    /// The JSON of a service account around such a block.
    ServiceAccount,
}

type Maker = fn(&mut Random) -> Value;

/// How the text of a kind is generated.
pub(super) enum Form {
    /// From one of these grammars.
    Grammar(&'static [&'static str]),
    /// By a function, if parts depend on each other.
    Made(Maker),
}

/// A kind of secret.
pub(super) struct Format {
    pub(super) kind: &'static str,
    pub(super) reach: Reach,
    /// The usual names of variables of this kind.
    pub(super) names: &'static [&'static str],
    pub(super) form: Form,
}

/// A generated text, and the part of it that is secret.
pub(super) struct Value {
    pub(super) text: String,
    pub(super) secret: String,
}

impl Value {
    fn whole(text: String) -> Self {
        Self { secret: text.clone(), text }
    }

    /// Removes the guillemets; the text between them is the secret.
    fn marked(text: &str) -> Self {
        let Some((before, rest)) = text.split_once('«') else {
            return Self::whole(text.to_owned());
        };
        let (secret, after) = rest.split_once('»').expect("every « has its »");
        Self { text: format!("{before}{secret}{after}"), secret: secret.to_owned() }
    }
}

impl Format {
    pub(super) fn make(&self, random: &mut Random) -> Value {
        match self.form {
            Form::Grammar(grammars) => {
                let grammar = random.pick(grammars);
                Value::marked(&random.expand(grammar))
            }
            Form::Made(make) => make(random),
        }
    }
}

type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const fn of(reach: Reach, (kind, names, grammars): Row) -> Format {
    Format { kind, reach, names, form: Form::Grammar(grammars) }
}

const fn made(
    kind: &'static str,
    reach: Reach,
    names: &'static [&'static str],
    make: Maker,
) -> Format {
    Format { kind, reach, names, form: Form::Made(make) }
}

/// All kinds.
pub(super) fn formats() -> Vec<Format> {
    let tables: [(Reach, &[Row]); 8] = [
        (Reach::Anywhere, &CODE_HOSTS),
        (Reach::Anywhere, &PLATFORMS),
        (Reach::Anywhere, &CLOUDS),
        (Reach::Anywhere, &SERVICES),
        (Reach::Anywhere, &MODELS),
        (Reach::Named, &NAMED),
        (Reach::Assigned, &ASSIGNED),
        (Reach::Password, &PASSWORDS),
    ];
    let mut formats: Vec<Format> = tables
        .into_iter()
        .flat_map(|(reach, rows)| rows.iter().map(move |row| of(reach, *row)))
        .collect();
    formats.push(of(Reach::Passphrase, PASSPHRASE));
    formats.push(of(Reach::Passphrase, SPACED));
    formats.extend(URLS.map(|row| of(Reach::Url, row)));
    formats.extend(HEADERS.map(|row| of(Reach::Header, row)));
    formats.extend(structured());
    formats
}

const CODE_HOSTS: [Row; 15] = [
    ("github-classic", &["GITHUB_TOKEN", "GH_TOKEN"], &["ghp_‹alnum36›"]),
    ("github-oauth", &["GITHUB_TOKEN"], &["gho_‹alnum36›"]),
    ("github-app", &["GITHUB_TOKEN"], &["ghu_‹alnum36›", "ghs_‹alnum36›"]),
    ("github-refresh", &["GITHUB_REFRESH_TOKEN"], &["ghr_‹alnum76›", "ghr_‹alnum36›"]),
    ("github-fine-grained", &["GITHUB_PAT"], &["github_pat_‹alnum22›_‹alnum59›"]),
    (
        "gitlab-personal",
        &["GITLAB_TOKEN", "CI_JOB_TOKEN"],
        &["glpat-‹url20›", "glpat-‹url27›.‹low9›", "glpat-‹url40›.01.‹low9›"],
    ),
    ("gitlab-deploy", &["GITLAB_DEPLOY_TOKEN"], &["gldt-‹url20›"]),
    ("gitlab-runner", &["RUNNER_TOKEN"], &["glrt-‹url20›", "glrt-t1_‹url27›.‹low9›"]),
    (
        "gitlab-other",
        &["GITLAB_TOKEN"],
        &[
            "glptt-‹hex40›",
            "glcbt-‹hex2›_‹url20›",
            "glsoat-‹url20›",
            "glagent-‹url50›",
            "gloas-‹hex64›",
            "glimt-‹low25›",
            "glffct-‹url20›",
        ],
    ),
    ("npm", &["NPM_TOKEN", "NODE_AUTH_TOKEN"], &["npm_‹alnum36›"]),
    ("pypi", &["PYPI_TOKEN", "TWINE_PASSWORD"], &["pypi-AgEIcHlwaS5vcmcCJ‹url140-160›"]),
    ("crates-io", &["CARGO_REGISTRY_TOKEN"], &["cio‹alnum32›"]),
    ("rubygems", &["GEM_HOST_API_KEY"], &["rubygems_‹hex48›"]),
    ("docker-hub", &["DOCKERHUB_TOKEN"], &["dckr_pat_‹url27›"]),
    ("artifactory", &["ARTIFACTORY_API_KEY"], &["AKCp‹num1›‹alnum68›"]),
];

const CLOUDS: [Row; 24] = [
    ("aws-access-key-id", &["AWS_ACCESS_KEY_ID"], &["AKIA‹aws16›", "ASIA‹aws16›"]),
    ("google-api-key", &["GOOGLE_API_KEY", "GEMINI_API_KEY"], &["AIzaSy‹url33›"]),
    ("google-client-secret", &["GOOGLE_CLIENT_SECRET"], &["GOCSPX-‹url28›"]),
    ("google-access-token", &["GOOGLE_ACCESS_TOKEN"], &["ya29.a0‹url160-200›"]),
    ("azure-client-secret", &["AZURE_CLIENT_SECRET"], &["‹alnum3›‹num1›Q~‹url31-34›"]),
    (
        "digitalocean",
        &["DIGITALOCEAN_TOKEN"],
        &["dop_v1_‹hex64›", "doo_v1_‹hex64›", "dor_v1_‹hex64›"],
    ),
    ("heroku-prefixed", &["HEROKU_API_KEY"], &["HRKU-AA‹url58›"]),
    (
        "cloudflare-prefixed",
        &["CLOUDFLARE_API_TOKEN"],
        &["cfut_‹alnum40›‹hex8›", "cfat_‹alnum40›‹hex8›", "cfk_‹alnum40›‹hex8›"],
    ),
    ("cloudflare-origin-ca", &["CLOUDFLARE_CA_KEY"], &["v1.0-‹hex24›-‹hex146›"]),
    ("vault", &["VAULT_TOKEN"], &["hvs.‹url92-110›", "hvs.‹alnum24›", "hvb.‹url140-160›"]),
    ("terraform-cloud", &["TF_TOKEN"], &["‹alnum14›.atlasv1.‹alnum67›"]),
    ("databricks", &["DATABRICKS_TOKEN"], &["dapi‹hex32›", "dapi‹hex32›-2"]),
    ("supabase", &["SUPABASE_ACCESS_TOKEN"], &["sbp_‹hex40›", "sb_secret_‹url22›_‹alnum8›"]),
    ("vercel-prefixed", &["VERCEL_TOKEN"], &["vcp_‹alnum56›", "vck_‹alnum56›"]),
    ("netlify", &["NETLIFY_AUTH_TOKEN"], &["nfp_‹alnum36›"]),
    (
        "planetscale",
        &["PLANETSCALE_TOKEN"],
        &["pscale_tkn_‹url43›", "pscale_pw_‹url43›", "pscale_oauth_‹url43›"],
    ),
    ("fly", &["FLY_API_TOKEN"], &["fo1_‹url43›", "fm2_‹base180-220›"]),
    ("doppler", &["DOPPLER_TOKEN"], &["dp.pt.‹alnum43›", "dp.st.dev.‹alnum43›"]),
    ("pulumi", &["PULUMI_ACCESS_TOKEN"], &["pul-‹hex40›"]),
    ("grafana", &["GRAFANA_TOKEN"], &["glsa_‹alnum32›_‹hex8›", "glc_‹base90-120›="]),
    ("new-relic", &["NEW_RELIC_API_KEY"], &["NRAK-‹UP27›"]),
    ("dynatrace", &["DYNATRACE_TOKEN"], &["dt0c01.‹UP24›.‹UP64›"]),
    ("sentry-user", &["SENTRY_AUTH_TOKEN"], &["sntryu_‹hex64›"]),
    ("age", &["SOPS_AGE_KEY"], &["AGE-SECRET-KEY-1‹BECH58›"]),
];

const SERVICES: [Row; 30] = [
    (
        "slack-bot",
        &["SLACK_BOT_TOKEN"],
        &["xoxb-‹num11-13›-‹num12-13›-‹alnum24›", "xoxb-‹num12›-‹alnum24›"],
    ),
    ("slack-user", &["SLACK_TOKEN"], &["xoxp-‹num12›-‹num12›-‹num13›-‹hex32›"]),
    (
        "slack-workspace",
        &["SLACK_TOKEN"],
        &["xoxa-2-‹num12›-‹num12›-‹num12›-‹hex32›", "xoxr-‹num12›-‹num12›-‹num12›-‹hex32›"],
    ),
    ("slack-app", &["SLACK_APP_TOKEN"], &["xapp-1-A‹UP10›-‹num13›-‹hex64›"]),
    ("slack-rotating", &["SLACK_TOKEN"], &["xoxe.xoxp-1-‹alnum166›", "xoxe-1-‹alnum146›"]),
    (
        "stripe-live",
        &["STRIPE_SECRET_KEY"],
        &["sk_live_‹alnum24›", "sk_live_51‹alnum97›", "rk_live_51‹alnum97›"],
    ),
    ("stripe-test", &["STRIPE_SECRET_KEY"], &["sk_test_‹alnum24›", "rk_test_51‹alnum97›"]),
    ("stripe-webhook", &["STRIPE_WEBHOOK_SECRET"], &["whsec_‹alnum32›"]),
    ("twilio-key", &["TWILIO_API_KEY"], &["SK‹hex32›"]),
    ("sendgrid", &["SENDGRID_API_KEY"], &["SG.‹url22›.‹url43›"]),
    ("mailgun", &["MAILGUN_API_KEY"], &["key-‹hex32›"]),
    ("linear", &["LINEAR_API_KEY"], &["lin_api_‹alnum40›"]),
    ("notion", &["NOTION_TOKEN"], &["ntn_‹num11›‹alnum35›", "secret_‹alnum43›"]),
    ("figma", &["FIGMA_TOKEN"], &["figd_‹url40›"]),
    (
        "shopify",
        &["SHOPIFY_ACCESS_TOKEN"],
        &["shpat_‹hex32›", "shpss_‹hex32›", "shpca_‹hex32›", "shppa_‹hex32›"],
    ),
    ("telegram", &["TELEGRAM_BOT_TOKEN"], &["‹num8-10›:AA‹url33›"]),
    ("discord", &["DISCORD_TOKEN"], &["MT‹alnum24›.G‹url5›.‹url38›", "N‹alnum23›.X‹url5›.‹url27›"]),
    ("square", &["SQUARE_ACCESS_TOKEN"], &["sq0atp-‹url22›", "sq0csp-‹url43›"]),
    ("postman", &["POSTMAN_API_KEY"], &["PMAK-‹hex24›-‹hex34›"]),
    ("atlassian", &["JIRA_API_TOKEN"], &["ATATT3xFfGF0‹url171›=‹HEX8›"]),
    ("airtable", &["AIRTABLE_TOKEN"], &["pat‹alnum14›.‹hex64›"]),
    ("one-password", &["OP_SERVICE_ACCOUNT_TOKEN"], &["ops_eyJ‹alnum400›"]),
    ("one-password-key", &["OP_SECRET_KEY"], &["A3-‹UP6›-‹UP6›-‹UP5›-‹UP5›-‹UP5›-‹UP5›"]),
    ("mapbox", &["MAPBOX_SECRET_TOKEN"], &["sk.eyJ1Ijoi‹alnum60›.‹url22›"]),
    ("dropbox", &["DROPBOX_TOKEN"], &["sl.B‹url134›"]),
    ("hubspot", &["HUBSPOT_TOKEN"], &["pat-na1-‹uuid4›"]),
    ("brevo", &["BREVO_API_KEY"], &["xkeysib-‹hex64›-‹alnum16›"]),
    ("buildkite", &["BUILDKITE_TOKEN"], &["bkua_‹hex40›"]),
    ("circleci", &["CIRCLE_TOKEN"], &["CCIPAT_‹alnum22›_‹hex40›"]),
    ("resend", &["RESEND_API_KEY"], &["re_‹alnum8›_‹alnum24›"]),
];

const MODELS: [Row; 15] = [
    ("anthropic", &["ANTHROPIC_API_KEY"], &["sk-ant-api03-‹url93›AA", "sk-ant-admin01-‹url93›AA"]),
    (
        "anthropic-login",
        &["CLAUDE_CODE_OAUTH_TOKEN"],
        &["sk-ant-oat01-‹url93›AA", "sk-ant-ort01-‹url93›AA"],
    ),
    ("openai-legacy", &["OPENAI_API_KEY"], &["sk-‹alnum20›T3BlbkFJ‹alnum20›"]),
    (
        "openai-project",
        &["OPENAI_API_KEY"],
        &["sk-proj-‹url74›T3BlbkFJ‹url74›", "sk-proj-‹url58›T3BlbkFJ‹url58›"],
    ),
    (
        "openai-account",
        &["OPENAI_API_KEY", "OPENAI_ADMIN_KEY"],
        &["sk-svcacct-‹url58›T3BlbkFJ‹url58›", "sk-admin-‹url58›T3BlbkFJ‹url58›"],
    ),
    ("huggingface", &["HF_TOKEN"], &["hf_‹let34›"]),
    ("groq", &["GROQ_API_KEY"], &["gsk_‹alnum52›"]),
    ("xai", &["XAI_API_KEY"], &["xai-‹alnum80›"]),
    ("replicate", &["REPLICATE_API_TOKEN"], &["r8_‹alnum37›"]),
    ("openrouter", &["OPENROUTER_API_KEY"], &["sk-or-v1-‹hex64›"]),
    ("perplexity", &["PERPLEXITY_API_KEY"], &["pplx-‹alnum48›"]),
    ("langsmith", &["LANGSMITH_API_KEY"], &["lsv2_pt_‹hex32›_‹hex10›"]),
    ("deepseek", &["DEEPSEEK_API_KEY"], &["sk-‹hex32›"]),
    ("tavily", &["TAVILY_API_KEY"], &["tvly-dev-‹alnum32›", "tvly-‹alnum32›"]),
    ("nvidia", &["NVIDIA_API_KEY"], &["nvapi-‹url64›"]),
];

const PLATFORMS: [Row; 22] = [
    (
        "sourcegraph",
        &["SRC_ACCESS_TOKEN"],
        &["sgp_‹hex16›_‹hex40›", "sgp_local_‹hex40›", "sgp_‹hex40›"],
    ),
    ("openshift", &["OC_TOKEN"], &["sha256~‹url43›"]),
    ("alchemy", &["ALCHEMY_TOKEN"], &["alcht_‹alnum30›"]),
    ("apify", &["APIFY_TOKEN"], &["apify_api_‹alnum36›"]),
    (
        "harness",
        &["HARNESS_API_KEY"],
        &["pat.‹url22›.‹alnum24›.‹alnum20›", "sat.‹url22›.‹alnum24›.‹alnum20›"],
    ),
    ("adobe-secret", &["ADOBE_CLIENT_SECRET"], &["p8e-‹low32›"]),
    ("frame-io", &["FRAMEIO_TOKEN"], &["fio-u-‹url64›"]),
    ("octopus", &["OCTOPUS_API_KEY"], &["API-‹UP26›"]),
    ("scalingo", &["SCALINGO_API_TOKEN"], &["tk-us-‹url48›"]),
    ("settlemint", &["BTP_TOKEN"], &["sm_pat_‹alnum16›", "sm_aat_‹alnum16›", "sm_sat_‹alnum16›"]),
    ("clickhouse", &["CLICKHOUSE_KEY_SECRET"], &["4b1d‹alnum38›"]),
    ("maxmind", &["MAXMIND_LICENSE_KEY"], &["‹alnum6›_‹alnum29›_mmk"]),
    ("intra42", &["INTRA_SECRET"], &["s-s4t2ud-‹hex64›", "s-s4t2af-‹hex64›"]),
    ("yandex-iam", &["YC_TOKEN"], &["t1.‹url90-120›.‹url86›"]),
    ("ramp", &["RAMP_CLIENT_SECRET"], &["ramp_sec_‹alnum48›"]),
    ("adafruit", &["ADAFRUIT_KEY"], &["aio_‹alnum28›"]),
    ("new-relic-license", &["NEW_RELIC_LICENSE_KEY"], &["‹hex32›FFFFNRAL"]),
    ("rootly", &["ROOTLY_API_KEY"], &["rootly_‹hex64›"]),
    ("zoho", &["ZOHO_REFRESH_TOKEN"], &["1000.‹hex32›.‹hex32›"]),
    ("clickup", &["CLICKUP_TOKEN"], &["pk_‹num8›_‹UP32›"]),
    ("defined-networking", &["DNKEY"], &["dnkey-‹low26›-‹low52›"]),
    ("salesforce-consumer", &["SF_CONSUMER_KEY"], &["3MVG9‹alnum80-90›"]),
];

const NAMED: [Row; 10] = [
    ("aws-secret-access-key", &["AWS_SECRET_ACCESS_KEY"], &["‹alnum1›‹base38›‹alnum1›"]),
    (
        "aws-session-token",
        &["AWS_SESSION_TOKEN"],
        &["IQoJb3JpZ2luX2VjE‹base320-400›==", "FwoGZXIvYXdzE‹base320-400›="],
    ),
    ("azure-storage-key", &["AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY"], &["‹base86›=="]),
    ("cloudflare-token", &["CLOUDFLARE_API_TOKEN", "CF_API_TOKEN"], &["‹alnum1›‹url38›‹alnum1›"]),
    ("vercel-token", &["VERCEL_TOKEN"], &["‹alnum24›"]),
    ("square-token", &["SQUARE_ACCESS_TOKEN"], &["EAAA‹url58›‹alnum2›"]),
    ("vault-old", &["VAULT_TOKEN"], &["s.‹alnum24›"]),
    ("mistral", &["MISTRAL_API_KEY", "COHERE_API_KEY"], &["‹alnum32›", "‹alnum40›"]),
    ("npm-old", &["NPM_AUTH_TOKEN"], &["‹base43›="]),
    (
        "random-near-a-telling-word",
        &["API_KEY", "ACCESS_TOKEN", "CLIENT_SECRET", "AUTH_TOKEN", "SIGNING_SECRET", "API_TOKEN"],
        &["‹alnum32›", "‹alnum40-48›", "‹base43›=", "‹alnum1›‹url41›‹alnum1›"],
    ),
];

const ASSIGNED: [Row; 12] = [
    ("snyk", &["SNYK_TOKEN", "SNYK_API_KEY"], &["‹uuid4›"]),
    (
        "uuid-of-a-service",
        &["KUCOIN_SECRET_KEY", "SENDBIRD_TOKEN", "MESSAGEBIRD_KEY"],
        &["‹uuid4›"],
    ),
    (
        "key-of-a-service",
        &["ALGOLIA_KEY", "FASTLY_TOKEN", "TWITCH_TOKEN", "MATTERMOST_KEY", "PLAID_KEY"],
        &["‹let1›‹num1›‹low24-30›", "‹hex32›"],
    ),
    ("twilio-auth-token", &["TWILIO_AUTH_TOKEN"], &["‹hex32›"]),
    ("launchdarkly", &["LAUNCHDARKLY_SDK_KEY"], &["sdk-‹uuid4›", "api-‹uuid4›"]),
    ("heroku-key", &["HEROKU_API_KEY"], &["‹uuid4›"]),
    ("datadog-api-key", &["DD_API_KEY", "DATADOG_API_KEY"], &["‹hex32›"]),
    ("datadog-app-key", &["DD_APP_KEY", "DATADOG_APP_KEY"], &["‹hex40›"]),
    ("cloudflare-global-key", &["CLOUDFLARE_API_KEY"], &["‹hex37›"]),
    ("sentry-old", &["SENTRY_AUTH_TOKEN"], &["‹hex64›"]),
    ("rails-secret", &["SECRET_KEY_BASE"], &["‹hex128›"]),
    (
        "hex-secret",
        &["SESSION_SECRET", "JWT_SECRET", "WEBHOOK_SECRET", "ENCRYPTION_KEY", "SECRET_KEY"],
        &["‹hex32›", "‹hex64›"],
    ),
];

const PASSWORD_NAMES: &[&str] = &[
    "PASSWORD",
    "DB_PASSWORD",
    "POSTGRES_PASSWORD",
    "MYSQL_ROOT_PASSWORD",
    "REDIS_PASSWORD",
    "SMTP_PASSWORD",
    "PGPASSWORD",
    "ADMIN_PASSWD",
];

const PASSWORDS: [Row; 3] = [
    ("password-random", PASSWORD_NAMES, &["‹let1›‹num1›‹pass12-22›‹alnum2›"]),
    (
        "password-human",
        PASSWORD_NAMES,
        &["‹Word›20‹num2›!", "‹word›-‹word›-‹num3›", "‹Word›_‹num4›", "‹word›‹num3›‹Word›"],
    ),
    (
        "secret-short",
        &["SECRET_KEY", "JWT_SECRET", "CLIENT_SECRET", "API_TOKEN", "APP_SECRET", "API_KEY"],
        &["‹let1›‹num1›‹alnum14-18›"],
    ),
];

const PASSPHRASE: Row = (
    "passphrase",
    &["PASSPHRASE", "VAULT_PASSWORD", "KEYSTORE_PASSWORD", "DB_PASSWORD"],
    &["‹word› ‹Word› ‹word› ‹num2›", "‹Word›&‹word›#‹num3›;‹word›", "‹alnum8›$‹alnum6›~‹num3›?"],
);

const SPACED: Row = (
    "password-with-spaces",
    &["DB_PASSWORD", "VAULT_PASSWORD", "SMTP_PASSWORD"],
    &["‹word›‹num2›‹word› ‹Word›", "‹Word›@‹word›‹num2› ‹word›", "‹word› ‹word›#‹num2›‹word›"],
);

const URLS: [Row; 18] = [
    (
        "postgres-url",
        &["DATABASE_URL"],
        &[
            "postgres://app:«‹let1›‹pass14›‹alnum1›»@db.internal:5432/app",
            "postgresql://svc_‹word›:«‹Word›‹num4›»@10.0.3.7/orders?sslmode=require",
        ],
    ),
    ("mysql-url", &["DATABASE_URL"], &["mysql://root:«‹alnum16›»@mysql:3306/shop"]),
    (
        "mongodb-url",
        &["MONGODB_URI"],
        &[
            "mongodb+srv://admin:«‹alnum16›»@cluster0.ab1cd.mongodb.net/prod?retryWrites=true",
            "mongodb://app:«‹alnum8›%40‹alnum6›»@m1:27017,m2:27017/app?replicaSet=rs0",
        ],
    ),
    (
        "redis-url",
        &["REDIS_URL"],
        &["redis://:«‹alnum24›»@cache:6379/0", "rediss://default:«‹hex32›»@eu1.upstash.io:6379"],
    ),
    ("amqp-url", &["AMQP_URL", "BROKER_URL"], &["amqps://‹word›:«‹url32›»@rabbit.internal/vhost"]),
    ("smtp-url", &["MAILER_DSN"], &["smtp://mailer:«‹alnum16›»@mail.example.com:587"]),
    (
        "sql-server",
        &["CONNECTION_STRING"],
        &[
            "Server=tcp:db.example.net,1433;Database=crm;User ID=svc;Password=«‹alnum18›!»;Encrypt=True",
            "Data Source=db01;Initial Catalog=crm;uid=svc;pwd=«‹Word›‹num4›x»;Timeout=30",
        ],
    ),
    (
        "jdbc",
        &["JDBC_URL"],
        &["jdbc:postgresql://db.internal:5432/app?user=app&password=«‹alnum16›»&ssl=true"],
    ),
    (
        "sqlalchemy-url",
        &["SQLALCHEMY_DATABASE_URI"],
        &["postgresql+psycopg2://app:«‹alnum12›%21‹alnum4›»@localhost/app"],
    ),
    (
        "url-password",
        &["PROXY_URL", "FEED_URL"],
        &[
            "https://deploy:«‹alnum14›»@artifacts.example.com/simple/",
            "ftp://‹word›:«‹Word›‹num4›»@files.example.org/in",
        ],
    ),
    (
        "git-remote",
        &["REMOTE_URL"],
        &[
            "https://x-access-token:«ghs_‹alnum36›»@github.com/acme/api.git",
            "https://oauth2:«glpat-‹url20›»@gitlab.com/acme/api.git",
            "https://«ghp_‹alnum36›»@github.com/acme/api.git",
        ],
    ),
    (
        "slack-webhook",
        &["SLACK_WEBHOOK_URL"],
        &["https://hooks.slack.com/services/T‹UP10›/B‹UP10›/«‹alnum24›»"],
    ),
    (
        "discord-webhook",
        &["DISCORD_WEBHOOK_URL"],
        &["https://discord.com/api/webhooks/‹num19›/«‹url68›»"],
    ),
    (
        "telegram-url",
        &["TELEGRAM_URL"],
        &["https://api.telegram.org/bot«‹num10›:AA‹url33›»/sendMessage"],
    ),
    (
        "azure-storage",
        &["AZURE_STORAGE_CONNECTION_STRING"],
        &[
            "DefaultEndpointsProtocol=https;AccountName=logs;AccountKey=«‹base86›==»;EndpointSuffix=core.windows.net",
        ],
    ),
    (
        "azure-shared-access",
        &["BLOB_URL"],
        &[
            "https://logs.blob.core.windows.net/app/a.log?sv=2024-11-04&sp=r&sig=«‹alnum20›%2B‹alnum22›%3D»",
        ],
    ),
    (
        "service-bus",
        &["SERVICE_BUS_CONNECTION"],
        &[
            "Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=«‹base43›=»",
        ],
    ),
    (
        "signed-url",
        &["DOWNLOAD_URL"],
        &[
            "https://acme.s3.amazonaws.com/dump.sql?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-Signature=«‹hex64›»",
        ],
    ),
];

const HEADERS: [Row; 3] = [
    (
        "bearer",
        &["Authorization"],
        &["Bearer «‹alnum32›»", "Bearer «‹url43›»", "Bearer «‹hex40›»", "bearer «‹base43›=»"],
    ),
    ("authorization-token", &["Authorization"], &["token «‹hex40›»", "Token «‹alnum40›»"]),
    ("api-key-header", &["X-Api-Key", "Api-Key", "X-Auth-Token"], &["«‹alnum32›»", "«‹hex32›»"]),
];

fn structured() -> Vec<Format> {
    let keys: [(&str, Maker); 10] = [
        ("private-key-rsa", rsa),
        ("private-key-ec", |random| pem(random, "EC PRIVATE KEY", "", "MHcCAQEEI", 164)),
        ("private-key-pkcs8", pkcs8),
        ("private-key-openssh", |random| {
            pem(
                random,
                "OPENSSH PRIVATE KEY",
                "",
                "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ",
                400,
            )
        }),
        ("private-key-pgp", |random| pem(random, "PGP PRIVATE KEY BLOCK", "\n", "lQOYBG", 900)),
        ("private-key-encrypted", |random| {
            pem(random, "ENCRYPTED PRIVATE KEY", "", "MIIFHDBOBgkqhkiG9w0BBQ0wQTAp", 1200)
        }),
        ("private-key-encrypted-old", |random| {
            let iv = random.expand("‹HEX32›");
            let head = format!("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{iv}\n\n");
            pem(random, "RSA PRIVATE KEY", &head, "", 1500)
        }),
        ("private-key-head", head_of_key),
        ("private-key-tail", tail_of_key),
        ("private-key-line", line_of_key),
    ];
    let mut formats =
        Vec::from(keys.map(|(kind, make)| made(kind, Reach::Pem, &["PRIVATE_KEY"], make)));
    formats.push(made("google-service-account", Reach::ServiceAccount, &["private_key"], pkcs8));
    formats.push(made(
        "private-key-base64",
        Reach::Anywhere,
        &["TLS_KEY", "SSH_PRIVATE_KEY"],
        |r| Value::whole(base64(rsa(r).text.as_bytes())),
    ));
    formats.push(made("jwt", Reach::Anywhere, &["ID_TOKEN", "SUPABASE_SERVICE_ROLE_KEY"], jwt));
    formats.push(made("sentry-org", Reach::Anywhere, &["SENTRY_AUTH_TOKEN"], sentry));
    formats.push(made("basic", Reach::Header, &["Authorization", "Proxy-Authorization"], basic));
    formats
}

const PEM_COLUMNS: usize = 64;

/// A PEM block; the secret is what follows the header.
fn pem(random: &mut Random, label: &str, head: &str, start: &str, length: usize) -> Value {
    let body = format!("{start}{}=", random.expand(&format!("‹base{length}›")));
    let lines: Vec<String> = body
        .as_bytes()
        .chunks(PEM_COLUMNS)
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    let secret = lines.join("\n");
    Value {
        text: format!("-----BEGIN {label}-----\n{head}{secret}\n-----END {label}-----"),
        secret,
    }
}

fn rsa(random: &mut Random) -> Value {
    pem(random, "RSA PRIVATE KEY", "", "MIIEpAIBAAKCAQEA", 1576)
}

fn pkcs8(random: &mut Random) -> Value {
    pem(random, "PRIVATE KEY", "", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ", 1580)
}

/// The output of `head -4` on a key, without the END line.
fn head_of_key(random: &mut Random) -> Value {
    let whole = rsa(random).text;
    let lines: Vec<&str> = whole.lines().take(4).collect();
    Value { text: lines.join("\n"), secret: lines[1..].join("\n") }
}

/// The output of `tail -5` on a key, without the BEGIN line.
fn tail_of_key(random: &mut Random) -> Value {
    let whole = pkcs8(random).text;
    let lines: Vec<&str> = whole.lines().collect();
    let tail = &lines[lines.len() - 5..];
    Value { text: tail.join("\n"), secret: tail[..4].join("\n") }
}

/// A key that lost its line breaks and its END line.
fn line_of_key(random: &mut Random) -> Value {
    let secret = random.expand("MIIEvQIBADANBgkqhkiG9w0BAQEF‹base300-400›");
    Value { text: format!("-----BEGIN PRIVATE KEY-----{secret}"), secret }
}

fn jwt(random: &mut Random) -> Value {
    let (algorithm, signature) = random.pick(&[("HS256", 43), ("RS256", 342), ("ES256", 86)]);
    let key_id = random.expand("‹alnum12›");
    let header = match random.below(3) {
        0 => format!(r#"{{"alg":"{algorithm}","typ":"JWT"}}"#),
        1 => format!(r#"{{"typ":"JWT","alg":"{algorithm}"}}"#),
        _ => format!(r#"{{"alg":"{algorithm}","kid":"{key_id}"}}"#),
    };
    let payload = match random.below(3) {
        0 => r#"{"sub":"‹num10›","name":"‹Word›","iat":17‹num8›}"#,
        1 => r#"{"iss":"https://auth.example.com/","aud":"‹word›","exp":17‹num8›}"#,
        _ => r#"{"role":"service_role","ref":"‹low20›","iss":"supabase","exp":20‹num8›}"#,
    };
    let payload = random.expand(payload);
    let signature = random.expand(&format!("‹url{signature}›"));
    let (header, payload) = (base64_url(header.as_bytes()), base64_url(payload.as_bytes()));
    Value::whole(format!("{header}.{payload}.{signature}"))
}

fn sentry(random: &mut Random) -> Value {
    let claims = r#"{"iat":17‹num8›.‹num6›,"url":"https://sentry.io","region_url":"https://us.sentry.io","org":"‹word›"}"#;
    let claims = base64(random.expand(claims).as_bytes());
    let signature = random.expand("‹base43›");
    Value::whole(format!("sntrys_{claims}_{signature}"))
}

fn basic(random: &mut Random) -> Value {
    let login = random.expand("‹word›:‹alnum12-20›");
    let secret = base64(login.as_bytes());
    Value { text: format!("Basic {secret}"), secret }
}
