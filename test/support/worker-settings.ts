import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "smol-toml";

/** The parts of a `wrangler.toml` that tests need, with absolute paths. */
export interface WorkerSettings {
  name: string;
  main: string;
  compatibility_date: string;
  compatibility_flags: string[];
  vars: Record<string, string>;
  assets: { directory: string; binding: string };
  ratelimits: { name: string; namespace_id: string; simple: { limit: number; period: 10 | 60 } }[];
  d1_databases: { binding: string; database_id: string; migrations_dir: string }[];
  r2_buckets: { binding: string; bucket_name: string }[];
  durable_objects: { bindings: { name: string; class_name: string }[] };
}

/** Reads the settings of a Worker. Wrangler's own reader takes a second and a half to load. */
export const readWorkerSettings = (path: string): WorkerSettings => {
  const settings = parse(readFileSync(path, "utf8")) as unknown as WorkerSettings;
  const absolute = (inside: string): string => resolve(dirname(path), inside);
  return {
    ...settings,
    main: absolute(settings.main),
    assets: { ...settings.assets, directory: absolute(settings.assets.directory) },
    d1_databases: settings.d1_databases.map((database) => ({
      ...database,
      migrations_dir: absolute(database.migrations_dir),
    })),
  };
};
