/**
 * A folder as the kubelet mounts a Secret or ConfigMap: files are links through `..data`, a link to a folder with a time in
 * its name. An update makes a new folder and puts a new `..data` in place of the old one, so that all files change at once.
 */
import { mkdir, mkdtemp, readdir, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Mount {
  readonly folder: string;
  /** Replaces what is mounted: names → contents. Resolves when it can be seen. */
  update(files: Readonly<Record<string, string>>): Promise<void>;
}

/** Mounts files; the folder goes at teardown. */
export async function mount(
  t: { teardown(run: () => unknown): void },
  files: Readonly<Record<string, string>>,
): Promise<Mount> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-mount-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  let version = 0;
  let current: string | undefined;
  const update = async (next: Readonly<Record<string, string>>): Promise<void> => {
    version += 1;
    const name = `..2026_11_30_10_00_00.${version}`;
    await mkdir(join(folder, name), { mode: 0o750 });
    for (const [file, text] of Object.entries(next)) {
      await writeFile(join(folder, name, file), text, { mode: 0o600 });
    }
    await symlink(name, join(folder, "..data_tmp"));
    await rename(join(folder, "..data_tmp"), join(folder, "..data"));
    const shown = (await readdir(folder)).filter((entry) => !entry.startsWith(".."));
    for (const file of Object.keys(next).filter((one) => !shown.includes(one))) {
      await symlink(join("..data", file), join(folder, file));
    }
    for (const file of shown.filter((one) => !Object.hasOwn(next, one))) await unlink(join(folder, file));
    if (current !== undefined) await rm(join(folder, current), { recursive: true });
    current = name;
  };
  await update(files);
  return { folder, update };
}
