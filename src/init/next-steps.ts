/** What `sealgate init` tells the operator at the end: what was found, what waits for a decision, what to run. Pure. */
import { isLoopback } from "../config/addresses.ts";
import type { Facts } from "./facts.ts";
import { configPath } from "./plan.ts";
import { shellWord } from "./program.ts";

/** @param at path in the folder → path to type */
export function nextSteps(facts: Facts, at: (path: string) => string): readonly string[] {
  const config = shellWord(at(configPath(facts.form)));
  return [...found(facts), "", "Next:", ...steps(facts, config, at), ""];
}

function found({ form, catalogue, policies, issuer, isPortMoved }: Facts): readonly string[] {
  const { tools, prompts, resources, templates } = catalogue;
  const counts = [
    count(tools.length, "tool"),
    count(prompts.length, "prompt"),
    count(resources.length, "resource"),
    count(templates.length, "resource template"),
  ];
  const lines = [`The server offers ${counts.join(", ")}.`];
  if (!policies.allows) lines.push("Nothing of it is allowed yet: decide in the section authorization.");
  if (policies.marked > 0) {
    lines.push(
      `${count(policies.marked, "tool")} may change something and wait for you, behind # in the section authorization.`,
    );
  }
  if (templates.length > 0)
    lines.push("Templates wait for you too: each covers more than anybody has looked at.");
  if (policies.odd > 0)
    lines.push(`${count(policies.odd, "name")} cannot be written as a pattern; the file says why.`);
  if (policies.twins > 0) lines.push("Some names look alike; the file lists them.");
  if (policies.cut.size > 0) lines.push(`Not everything could be taken in: ${[...policies.cut].join(", ")}.`);
  if (issuer !== undefined && form !== "laptop" && isLoopback(new URL(issuer.issuer).hostname)) {
    lines.push("The issuer is on this machine: a container does not reach it by that name.");
  }
  if (isPortMoved) lines.push("Clients connect to port 8090, since port 8080 is the server's own.");
  lines.push("Clients of a revision before 2026-07-28 are refused; legacy: pass on the route lets them in.");
  if (issuer === undefined) lines.push("Nobody is asked for a token: use it on this machine only.");
  return lines;
}

function steps(facts: Facts, config: string, at: (path: string) => string): readonly string[] {
  const { form, publicUrl, listen, version, program } = facts;
  const check = `  ${program} check --config ${config}`;
  switch (form) {
    case "laptop":
      return [check, `  ${program} serve --config ${config}`, `Clients then use ${publicUrl}/mcp`];
    case "compose":
      return [
        check,
        `  docker build --tag sealgate:${version} .     in a checkout of Sealgate`,
        `  docker compose --file ${shellWord(at("docker-compose.yml"))} up --detach --wait`,
        `Clients then use ${publicUrl}/mcp, on port ${listen.slice(listen.lastIndexOf(":") + 1)} of this machine.`,
      ];
    case "sidecar":
      return [
        `  put your host into server.publicUrl (now ${publicUrl}), and your images into ${shellWord(at("kustomization.yaml"))}`,
        check,
        `  kubectl apply --kustomize ${shellWord(at("."))}`,
        "An ingress of yours leads to the service sealgate, port 80.",
      ];
  }
}

const count = (many: number, noun: string): string => `${many} ${noun}${many === 1 ? "" : "s"}`;
