/** Reads an event stream as a client would (WHATWG HTML, section 9.2.6), for tests: the data of each event, byte for byte. */
export function eventsOf(body: string): string[] {
  const events: string[] = [];
  let data: string[] = [];
  for (const line of body.split("\n")) {
    if (line.startsWith("data: ")) data.push(line.slice(6));
    else if (line === "" && data.length > 0) {
      events.push(data.join("\n"));
      data = [];
    }
  }
  return events;
}

/** One event as a server may print it: one `data:` line for each line of the text. */
export function event(text: string): string {
  return `${text
    .split("\n")
    .map((line) => `data: ${line}\n`)
    .join("")}\n`;
}
