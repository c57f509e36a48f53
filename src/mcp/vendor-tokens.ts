/**
 * What vendors begin their tokens with so that scanners find them, and how many characters go on from there. Formats
 * change, and many tokens have none: what is not here may be one all the same.
 */

/** Vendors of models and of what works with them. */
const MODELS: readonly string[] = [
  "sk-(?:ant|proj|or|svcacct|admin|None)-[\\w-]{20}",
  "sk-[A-Za-z0-9]{20}",
  "(?:hf|gsk|r8)_[A-Za-z0-9]{30}",
  "api_org_[A-Za-z0-9]{30}",
  "pplx-[A-Za-z0-9]{30}",
  "xai-[A-Za-z0-9]{40}",
  "nvapi-[\\w-]{30}",
  "lsv2_(?:pt|sk)_[a-f0-9]{32}",
  "pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40}",
  "tvly-(?:dev-|prod-)?[A-Za-z0-9]{24}",
  "fc-[a-f0-9]{32}(?![a-f0-9])",
  "sk_[a-f0-9]{48}(?![a-f0-9])",
  "wandb_v1_[\\w-]{40}",
];

/** Hosts of code, of packages and of what builds them. */
const CODE: readonly string[] = [
  "gh[pousr]_[A-Za-z0-9]{30}",
  "github_pat_[A-Za-z0-9_]{30}",
  "gl(?:pat|rt|dt|cbt|ptt|soat|ft|agent|oas|imt|ffct)-[\\w-]{20}",
  "npm_[A-Za-z0-9]{30}",
  "pypi-[\\w-]{30}",
  "rubygems_[a-f0-9]{48}",
  "cio[A-Za-z0-9]{32}(?![A-Za-z0-9])",
  "oy2[a-z2-7]{43}(?![a-z0-9])",
  "dckr_[op]at_[\\w-]{27}",
  "AT(?:ATT3|CTT3)x[\\w=-]{100}",
  "ATBB[A-Za-z0-9]{32}",
  "bkua_[a-f0-9]{40}",
  "CCI[PO]AT_[A-Za-z0-9]{16}",
  "sq[apu]_[a-f0-9]{40}",
  "AKCp[A-Za-z0-9]{65}",
  "cmVmdGtuOj[A-Za-z0-9+/=]{40}",
  "PMAK-[a-f0-9]{20}",
  "lin_api_[A-Za-z0-9]{30}",
  "[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])",
];

/** Those who run what others built, and keep its data. */
const HOSTS: readonly string[] = [
  "do[opr]_v1_[a-f0-9]{40}",
  "dapi[a-f0-9]{32}",
  "HRKU-AA[\\w-]{40}",
  "cf(?:ut|at|k)_[A-Za-z0-9]{40}",
  "vc[pka]_[A-Za-z0-9]{40}",
  "nfp_[A-Za-z0-9]{30}",
  "fm[12][ar]?_[A-Za-z0-9+/=]{40}",
  "sb(?:p|_secret)_[\\w-]{30}",
  "pscale_(?:tkn|pw|oauth)_[\\w.-]{32}",
  "napi_[a-zA-Z0-9]{50}",
  "hv[sbr]\\.[\\w-]{20}",
  "[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{60}",
  "pul-[a-f0-9]{40}",
  "dp\\.(?:pt|ct|sa|scim|audit|st(?:\\.[a-z0-9_-]{2,35})?)\\.[A-Za-z0-9]{40}",
  "ops_eyJ[\\w-]{20}",
  "A3(?:-[A-Z0-9]{5,6}){6}(?![A-Z0-9-])",
  "tskey-[a-z]{3,12}-[\\w-]{10}",
  "AQV[A-Za-z0-9_-]{35}",
  "y0_[\\w-]{50}",
  "glsa_[A-Za-z0-9]{30}",
  "glc_eyJ[A-Za-z0-9+/=]{20}",
  "sntry[su]_[\\w=]{30}",
  "NRAK-[A-Z0-9]{27}",
  "NRI[IQ]-[\\w-]{32}",
  "dt0[a-z][0-9]{2}\\.[A-Z2-7]{24}\\.[A-Z2-7]{64}",
];

/** What people write, sell and pay with. */
const SERVICES: readonly string[] = [
  "xox[abeoprs][-.][\\w.-]{10}",
  "xapp-[\\w-]{10}",
  "(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16}",
  "whsec_[A-Za-z0-9+/]{20}",
  "SG\\.[\\w-]{16,32}\\.[\\w-]{16}",
  "xkeysib-[a-f0-9]{64}",
  "re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9_])",
  "key-[a-f0-9]{32}(?![a-f0-9])",
  "[a-f0-9]{32}-us[0-9]{1,2}(?![A-Za-z0-9])",
  "SK[a-f0-9]{32}(?![a-f0-9])",
  "shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
  "sq0[a-z]{3}-[\\w-]{22}",
  "EAAA[\\w-]{60}(?![\\w-])",
  "EAA[BCG][A-Za-z0-9]{30}",
  "IGQV[\\w-]{40}",
  "secret_[A-Za-z0-9]{40}",
  "ntn_[A-Za-z0-9]{40}",
  "[12](?:/[0-9]{10,20}){1,2}:[a-f0-9]{32}(?![a-f0-9])",
  "pat[A-Za-z0-9]{14}\\.[a-f0-9]{64}",
  "pat-[a-z]{2}[0-9]-[a-f0-9]{8}-[a-f0-9-]{27}",
  "figd_[\\w-]{20}",
  "tfp_[\\w-]{40}",
  "CFPAT-[\\w-]{40}",
  "sk\\.eyJ1Ijoi[\\w-]{20}",
  "shippo_(?:live|test)_[a-f0-9]{40}",
  "EZ[AT]K[A-Za-z0-9]{54}",
  "access_token\\$(?:production|sandbox)\\$[a-z0-9]{16}\\$[a-f0-9]{32}",
  "p8e-[A-Za-z0-9]{32}",
  "[0-9]{8,10}:AA[\\w-]{33}(?![\\w-])",
  "[MNO][A-Za-z0-9]{23,27}\\.[\\w-]{6}\\.[\\w-]{27,40}(?![\\w-])",
];

/** Addresses that whoever knows them may write to. */
const WEBHOOK =
  "(?:hooks\\.slack\\.com/(?:services|workflows)|discord(?:app)?\\.com/api/webhooks)/[\\w/-]{20}";

/** A token of a known vendor, from its first character to where it can be no other text. */
export const VENDOR_TOKEN = new RegExp(
  `(?<![A-Za-z0-9_-])(?:${[...MODELS, ...CODE, ...HOSTS, ...SERVICES].join("|")})|${WEBHOOK}`,
);
