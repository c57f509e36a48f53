/** What a section `capability` demands in vain. Part of `cross-checks.ts`, pure like it. Warnings only. */
import type { Step } from "./json-schema.ts";
import type { Report, Sound } from "./report.ts";
import type { Ask, Capability } from "./schema.ts";

/** All checks of `capability`, at the top and of routes. */
export function checkCapability({ capability, routes }: Sound, report: Report): void {
  if (capability === undefined) return;
  checkSection(capability, capability, ["capability"], report);
  for (const [index, route] of (routes ?? []).entries()) {
    checkSection(route.capability, capability, ["routes", index, "capability"], report);
  }
}

/** @param top where the section says nothing, what does */
function checkSection(
  section: Partial<Capability>,
  top: Capability,
  path: readonly Step[],
  report: Report,
): void {
  if (report.lost(path) || report.lost(["capability"])) return;
  const allow = section.allow ?? top.allow;
  const requires = section.requires ?? top.requires;
  if (section.requires !== undefined) warnOfVain(section.requires, allow, [...path, "requires"], report);
  for (const [index, entry] of (section.tools ?? []).entries()) {
    const at = [...path, "tools", index];
    if (entry.allow === undefined && entry.requires === undefined)
      report.warning(at, "changes nothing: it has neither allow nor requires");
    else warnOfVain(entry.requires ?? requires, entry.allow ?? allow, at, report);
  }
}

function warnOfVain(
  requires: readonly Ask[],
  allow: readonly Ask[],
  path: readonly Step[],
  report: Report,
): void {
  const vain = requires.filter((ask) => !allow.includes(ask));
  if (vain.length === 0) return;
  report.warning(
    path,
    `requires ${vain.join(", ")}, which the server may not ask: clients are refused for nothing`,
  );
}
