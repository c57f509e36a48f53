/** What is measured of the process itself, by the names that dashboards know. */
import { Counter, Gauge, type Registry } from "prom-client";
import { programVersion } from "./program-version.ts";

/** Gauges and counters that read the process when scraped. */
export function registerProcessMetrics(registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time of all threads, in user mode and in the kernel",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1_000_000);
    },
  });
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Memory that the system counts for the process",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: "process_start_time_seconds",
    help: "When the process began, unix time",
    registers,
  }).set(performance.timeOrigin / 1_000);
  const version = programVersion();
  new Gauge({
    name: "sealgate_build_info",
    help: "1, by the version of the gateway and of Node",
    labelNames: ["version", "node"],
    registers,
  }).set({ version, node: process.versions.node }, 1);
}
