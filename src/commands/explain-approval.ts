/** What `sealgate explain` says of a call that needs the user's approval: which policies ask, and the question itself. */
import { ApprovePolicies } from "../approval/approve-policies.ts";
import { approvalQuestion } from "../approval/question.ts";
import type { Decision } from "../authorization.ts";
import type { Config } from "../config/schema.ts";
import type { Target } from "../mcp/methods.ts";
import type { Principal } from "../principal/principal.ts";
import type { Asked } from "./explain-input.ts";

/** As `--json` prints it. */
export interface Approval {
  readonly policies: readonly {
    readonly id: string;
    /** It asks only where the annotations of the tool say so, or are not known. */
    readonly when?: readonly string[];
  }[];
  /** Route → the question that its clients get. */
  readonly questions: Readonly<
    Record<string, { readonly message: string; readonly requestedSchema: unknown }>
  >;
}

/** The code in a question is made with the gateway's key. */
const CODE = "(the gateway's code)";

/** Undefined where nobody is asked. The lists of servers are not known here, so all policies that match ask. */
export function approvalOf(
  { authorization }: Config,
  routes: Config["routes"],
  { doc, message }: Asked,
  principal: Principal,
  target: Target | undefined,
  decision: Decision | undefined,
): Approval | undefined {
  const ids = decision?.allowed === true ? (decision.approvals ?? []) : [];
  const policies = new ApprovePolicies(authorization).demanded(ids, undefined);
  if (policies.length === 0 || target === undefined) return undefined;
  const { method, params } = message;
  const questions = routes.map(({ path, upstream }) => {
    const where = { server: path, route: path, upstream: upstream.url };
    const call = { ...where, method, target, doc, params, principal };
    const question = approvalQuestion(policies, call, () => CODE);
    const requestedSchema: unknown = JSON.parse(question.requestedSchema);
    return [path, { message: question.message, requestedSchema }] as const;
  });
  return {
    policies: policies.map(({ id, when }) => ({ id, ...(when === undefined ? {} : { when }) })),
    questions: Object.fromEntries(questions),
  };
}

/** The lines that people read. */
export function approvalLines({ policies, questions }: Approval): string[] {
  const named = policies.map(({ id, when }) =>
    when === undefined
      ? id
      : `${id} (where the tool's annotations say ${when.join(" or ")}, or are not known)`,
  );
  return [
    `The user is asked first, by policy ${named.join(", ")}`,
    ...Object.entries(questions).flatMap(([path, { message, requestedSchema }]) => [
      `On ${path}:`,
      ...message.split("\n").map((line) => `  | ${line}`),
      `  form: ${JSON.stringify(requestedSchema)}`,
    ]),
  ];
}
