import type { Declared } from "../../src/mcp/capabilities.ts";

/** A client that has declared nothing. */
export const NOTHING: Declared = {
  form: false,
  url: false,
  sampling: false,
  samplingTools: false,
  samplingContext: false,
  roots: false,
};
