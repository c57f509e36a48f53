import t from "tap";
import { formFindings, TEXT_BUDGET } from "../../../src/mcp/form-findings.ts";
import { formSchemaFault } from "../../../src/mcp/form-schema.ts";

/** `rule detail field` of what a form breaks, without the area. JSON text, so that `__proto__` is a member. */
function judge(properties: string, message = "Size?", more = ""): string[] {
  const schema: unknown = JSON.parse(`{"type":"object","properties":{${properties}}${more}}`);
  if (formSchemaFault(schema) !== undefined) throw new Error(`no form: ${properties}`);
  return formFindings({ message, schema }, { left: TEXT_BUDGET }).map(({ rule, detail, data }) =>
    [rule.slice(12), detail, ...Object.values(data ?? {})].join(" "),
  );
}

t.test("honest forms", async (t) => {
  const fields = [
    "",
    '"email":{"type":"string","format":"email"}',
    '"tokenCount":{"type":"integer"}',
    '"env":{"type":"string","enum":["prod","test"],"enumNames":["Production","Test"],"default":"test"}',
    '"confirm":{"type":"boolean","title":"Delete the API key?","default":false}',
    '"rotate_password":{"type":"boolean"}',
    '"token":{"type":"string","enum":["access token","refresh token"]}',
    '"secret":{"type":"string","oneOf":[{"const":"a","title":"API key"},{"const":"b","title":"Password"}]}',
    '"tags":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]},"minItems":0,"maxItems":1,"default":["a"]}',
    '"repo":{"type":"string","format":"uri","default":"https://git.example/a"}',
    '"when":{"type":"string","format":"date","default":"2026-12-01","title":"Password expires"}',
    '"n":{"type":"number","minimum":0.5,"maximum":0.5,"default":0.5}',
    '"file":{"type":"string","default":"README.md","description":"Such as index.js, main.py, or a@b.example"}',
    '"__proto__":{"type":"string"},"constructor":{"type":"string"}',
    '"k":{"type":"string","pattern":"^(a+)+$","x-hint":true}',
  ];
  for (const field of fields) t.same(judge(field), [], field);
});

t.test("secrets", async (t) => {
  const cases: [fields: string, found: string, message?: string][] = [
    ['"apiKey":{"type":"string"}', "secret-field name apiKey"],
    ['"size":{"type":"string"},"api_secret":{"type":"string"}', "secret-field name api_secret"],
    ['"a":{"type":"string","title":"Your password"}', "secret-field title a"],
    ['"a":{"type":"string","description":"Paste your API key"}', "secret-field description a"],
    ['"a":{"type":"string","writeOnly":true}', "secret-field format a"],
    ['"a":{"type":"string","x-secret":true}', "secret-field format a"],
    ['"a":{"type":"string","ui:widget":"password"}', "secret-field format a"],
    ['"pin":{"type":"integer"}', "secret-field name pin"],
    ['"card_number":{"type":"number"}', "secret-field name card_number"],
    ['"a":{"type":"string"}', "secret-field message", "Please enter your password"],
    ['"passwort":{"type":"string","format":"email"}', "secret-field name passwort"],
    ['"password<":{"type":"string"}', "secret-field name"],
  ];
  for (const [fields, found, message] of cases) t.same(judge(fields, message), [found], fields);
  t.same(judge('"ok":{"type":"boolean"}', "Please enter your password"), [], "nothing can be typed");
  t.same(judge('"a":{"type":"string"}', "Your password was changed. What shall the notice say?"), []);
});

t.test("secrets that another place than the field asks for", async (t) => {
  const open = '"a":{"type":"string"}';
  const switched = (title: string): string => `"b":{"type":"boolean","title":"${title}"},${open}`;
  const cases: [fields: string, found: string, message?: string | undefined, more?: string][] = [
    [open, "form", undefined, ',"title":"Enter your password"'],
    [open, "form", undefined, ',"description":"Your API key"'],
    [open, "form", undefined, ',"x-help":"Enter your password"'],
    ['"n":{"type":"integer"}', "message", "Enter the PIN of your bank card"],
    [switched("Type your password below"), "elsewhere b"],
    [switched("Bitte Passwort unten eingeben"), "elsewhere b"],
    [switched("请在下面输入密码"), "elsewhere b"],
    [`"b":{"type":"boolean","description":"Now enter your PIN"},${open}`, "elsewhere b"],
    [`"b":{"type":"string","enum":["Now type your password below"]},${open}`, "elsewhere b"],
    [`"b":{"type":"array","items":{"anyOf":[{"const":"x","title":"Enter your password"}]}},${open}`, "elsewhere b"],
    [`"b":{"type":"string","format":"date","title":"Paste your API key below"},${open}`, "elsewhere b"],
    ['"a":{"type":"string","default":"Enter your password"}', "elsewhere a"],
    ['"a":{"type":"string","examples":["Enter your password"]}', "elsewhere a"],
    ['"a":{"type":"string","placeholder":"Your password"}', "hint a"],
    ['"a":{"type":"string","ui:placeholder":"Password"}', "hint a"],
    ['"a":{"type":"string","x-ui":{"options":{"help":"Enter your password"}}}', "hint a"],
    ['"a":{"type":"number","tooltip":"Your card PIN"}', "hint a"],
  ]; // biome-ignore format: one case, one line
  for (const [fields, found, message, more] of cases)
    t.same(judge(fields, message, more), [`secret-field ${found}`], `${fields}${more ?? ""}`);
  const honest: [fields: string, message?: string | undefined, more?: string][] = [
    [switched("Show the password")],
    [switched("Delete the API key?")],
    [switched("Require a password for guests")],
    [switched("使用密码登录")],
    [`"b":{"type":"string","enum":["Password","API key","Single sign-on"]},${open}`],
    [`"b":{"type":"string","oneOf":[{"const":"t","title":"Access token"}]},"n":{"type":"integer"}`],
    ['"a":{"type":"string","examples":["token","pin"],"placeholder":"A name for the key"}'],
    ['"n":{"type":"integer"}', "How many tokens may one answer have?"],
    ['"n":{"type":"integer"}', "How long shall passwords be?"],
    ['"ok":{"type":"boolean"}', undefined, ',"title":"Enter your password"'],
    ['"a":{"type":"string","examples":["https://a.example/x"],"placeholder":"https://"}'],
  ];
  for (const place of honest) t.same(judge(...place), [], String(place));
});

t.test("links", async (t) => {
  const places = (link: string): [fields: string, message?: string | undefined, more?: string][] => [
    ["", `Go to ${link}`],
    [`"a":{"type":"string","title":"${link}"}`],
    [`"a":{"type":"string","description":"see ${link}"}`],
    [`"a":{"type":"string","default":"${link}"}`],
    [`"a":{"type":"string","enum":["${link}"]}`],
    [`"a":{"type":"string","enum":["x"],"enumNames":["${link}"]}`],
    [`"a":{"type":"string","oneOf":[{"const":"x","title":"${link}"}]}`],
    [`"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"${link}"}]}}`],
    [`"a":{"type":"array","items":{"type":"string","enum":["${link}"]}}`],
    [`"${link}":{"type":"string"}`],
    ["", undefined, `,"title":"${link}"`],
    ["", undefined, `,"$comment":"${link}"`],
    [`"a":{"type":"string","markdownDescription":"${link}"}`],
    [`"a":{"type":"boolean","x-ui":{"help":"${link}"}}`],
  ];
  for (const place of places("https://evil.example/x"))
    t.same(judge(...place), ["link-in-text scheme"], String(place));
  for (const place of places("evil.com")) t.same(judge(...place), ["link-in-text domain"], String(place));
});

t.test("contradictions", async (t) => {
  const cases: [fields: string, detail: string, more?: string][] = [
    ['"a":{"type":"string","minLength":3,"maxLength":2}', "bounds"],
    ['"a":{"type":"string","minLength":-1}', "bounds"],
    ['"a":{"type":"string","maxLength":1.5}', "bounds"],
    ['"a":{"type":"number","minimum":2,"maximum":1}', "bounds"],
    ['"a":{"type":"string","enum":[]}', "options"],
    ['"a":{"type":"string","enum":["x","x"]}', "options"],
    ['"a":{"type":"string","enum":["x"],"enumNames":["X","Y"]}', "options"],
    ['"a":{"type":"string","oneOf":[{"const":"x","title":"A"},{"const":"x","title":"B"}]}', "options"],
    ['"a":{"type":"array","items":{"anyOf":[]}}', "options"],
    ['"a":{"type":"string","enum":["x"],"default":"y"}', "default"],
    ['"a":{"type":"string","format":"email","default":"nobody"}', "default"],
    ['"a":{"type":"string","maxLength":2,"default":"abc"}', "default"],
    ['"a":{"type":"integer","default":1.5}', "default"],
    ['"a":{"type":"number","maximum":1,"default":2}', "default"],
    ['"a":{"type":"array","items":{"type":"string","enum":["x"]},"default":["y"]}', "default"],
    ['"a":{"type":"string"}', "required", ',"required":["a","a"]'],
  ];
  for (const [fields, detail, more] of cases)
    t.same(judge(fields, undefined, more), [`form-contradiction ${detail}`], fields);
});

t.test("more text than is read counts as found", async (t) => {
  const schema: unknown = JSON.parse('{"type":"object","properties":{}}');
  const budget = { left: TEXT_BUDGET };
  t.same(
    formFindings({ message: "x".repeat(TEXT_BUDGET), schema }, budget).map(
      ({ rule, detail }) => `${rule} ${detail}`,
    ),
    ["elicitation/secret-field unread", "elicitation/link-in-text unread"],
  );
  t.same(
    formFindings({ message: "one more", schema }, budget).length,
    2,
    "the budget is one for all forms of a result",
  );
  const unread = ["secret-field unread", "link-in-text unread"];
  const long = "\ufdfa".repeat(1_830);
  t.same(judge("", `${long} see https://evil.example/login. Enter your password`), unread, "written out");
  for (const more of [`,"title":"${long}"`, `,"description":"${"x".repeat(17_000)}"`])
    t.same(judge('"a":{"type":"string"}', undefined, more), unread, more.slice(0, 20));
  t.same(judge(`"a":{"type":"string","title":"${long}. Password"}`), unread);
  t.same(judge("", "\ufdfa".repeat(1_500)), [], "short enough to be read");
  t.same(formFindings({ message: "x ".repeat(4000), schema }, { left: TEXT_BUDGET }), []);
});
