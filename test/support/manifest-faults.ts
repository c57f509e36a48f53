/** What is wrong with a Kubernetes object: by the schemas of the API, and by the fields its kind has. */
import { unknownFields } from "./manifest-fields.ts";
import type { Manifest } from "./manifests.ts";

/** One line for each fault; none for a sound object. */
export async function faultsOf(object: Manifest): Promise<string[]> {
  const kinds = (await import(`kubernetes-models/${object.apiVersion}/${object.kind}`)) as Record<
    string,
    new (
      data: unknown,
    ) => { validate(): void }
  >;
  const Kind = kinds[object.kind];
  if (Kind === undefined) return [`no kind ${object.kind}`];
  const faults = unknownFields(object).map((path) => `unknown: ${path}`);
  try {
    new Kind(object).validate();
  } catch (error) {
    faults.push(String(error));
  }
  return faults;
}
