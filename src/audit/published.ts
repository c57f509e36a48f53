/** The published forms of what `record-schema.ts` and `admin-schema.ts` say: a JSON Schema, and tables for docs/audit.md. Pure. */
import * as z from "zod";
import { adminRecord } from "./admin-schema.ts";
import { auditRecord } from "./record-schema.ts";

interface Member {
  readonly description?: string;
  readonly type?: string;
  readonly const?: string | boolean;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Member>>;
  readonly items?: Member;
}

/** The JSON Schema (draft 2020-12) of one line of an audit sink. */
export function auditSchema(): Readonly<Record<string, unknown>> {
  const line = z
    .discriminatedUnion("type", [
      auditRecord.meta({ title: "Audit record", description: "One request, and what was decided of it." }),
      adminRecord.meta({ title: "Admin record", description: "One deed on the admin listener." }),
    ])
    .meta({
      title: "Sealgate audit log",
      description:
        "One JSON object a line. Members that do not apply are absent. Times are RFC 3339 in UTC, durations milliseconds; digests are SHA-256 as unpadded base64url, ids 128 bits in the same form. New versions may add members.",
    });
  return z.toJSONSchema(line, { target: "draft-2020-12" }) as Record<string, unknown>;
}

/** The text that is printed and checked in as `config/audit.schema.json`. */
export const auditSchemaText = (): string => `${JSON.stringify(auditSchema(), undefined, 2)}\n`;

/** The tables of docs/audit.md: every member of both kinds of record, in the order of the schema. */
export function memberTables(): { readonly audit: string; readonly admin: string } {
  const [audit, admin] = (auditSchema() as { readonly oneOf: readonly [Member, Member] }).oneOf;
  return { audit: tableOf(audit), admin: tableOf(admin) };
}

function tableOf(record: Member): string {
  const rows = rowsOf("", record).map(([name, member]) => {
    const { description = "" } = member;
    const values = wordsOf(member);
    const listed = values.length === 0 || values.length > 16 ? "" : ` ${values.map(code).join(", ")}.`;
    return `| ${code(name)} | ${description.replaceAll("|", "\\|")}${listed} |`;
  });
  return ["| Member | |", "|---|---|", ...rows].join("\n");
}

/** Members of lists stand under the list's name with `[]`. */
function rowsOf(prefix: string, { properties = {} }: Member): [string, Member][] {
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    const below = member.items?.properties === undefined ? member : member.items;
    const inner = rowsOf(member.items?.properties === undefined ? `${path}.` : `${path}[].`, below);
    return [[path, member] as [string, Member], ...inner];
  });
}

const wordsOf = ({ enum: values, const: value, items }: Member): readonly string[] =>
  values ?? (typeof value === "string" ? [value] : (items?.enum ?? []));

const code = (text: string): string => `\`${text}\``;
