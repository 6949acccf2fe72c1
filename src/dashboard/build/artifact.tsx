import type { ArtifactFile, ArtifactWithFiles } from "../../protocol/artifact.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Context } from "../../services/core/context.ts";
import { shareArtifact, viewAddress } from "../../services/uploads/artifact-shares.ts";
import { getArtifact, removeArtifact } from "../../services/uploads/artifacts.ts";
import { Copyable } from "../parts/copied-code.tsx";
import { readNumber, readText, TextField } from "../parts/fields.tsx";
import { ProblemNotice } from "../parts/form-page.tsx";
import { sizeText } from "../parts/format.ts";
import { Table } from "../parts/lists.tsx";
import { RelativeTime } from "../parts/time.tsx";
import { type FormState, formAt, hasRole, type Page, type Pages, type View } from "../shell/page-definition.ts";
import { parseBody } from "../shell/verb-input.ts";
import { artifactPath, countOfFiles } from "./artifact-list.tsx";

/** The direct children of an artifact's folder. A name ends where the next folder begins. */
interface Folder {
  folders: { name: string; path: string; files: number; bytes: number }[];
  files: { name: string; path: string; bytes: number }[];
}

/** Returns the folder at this path. An empty path selects the whole artifact. */
const folderAt = (list: readonly ArtifactFile[], path: string): Folder => {
  const prefix = path === "" ? "" : `${path}/`;
  const folders = new Map<string, Folder["folders"][number]>();
  const files: Folder["files"] = [];
  for (const { path: whole, size } of list) {
    if (!whole.startsWith(prefix)) continue;
    const [name = "", ...below] = whole.slice(prefix.length).split("/");
    if (below.length === 0) {
      files.push({ name, path: whole, bytes: size });
      continue;
    }
    const folder = folders.get(name) ?? { name, path: prefix + name, files: 0, bytes: 0 };
    folders.set(name, { ...folder, files: folder.files + 1, bytes: folder.bytes + size });
  }
  return { folders: [...folders.values()], files };
};

/** Returns the page with which a report opens: the topmost `index.html`. Returns undefined if no file has this name. */
const findReport = (list: readonly ArtifactFile[]): string | undefined =>
  list
    .map(({ path }) => path)
    .filter((path) => path === "index.html" || path.endsWith("/index.html"))
    .sort((one, other) => one.split("/").length - other.split("/").length || (one < other ? -1 : 1))[0];

/** The maximum number of rows on one page. The downloaded archive has the other files. */
const ROWS = 1000;
const DEFAULT_HOURS = 24;

const toInput = ({ id = "", name = "" }: Record<string, string>) => ({
  params: { id, name },
  query: undefined,
  body: undefined,
});

const inUrl = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

const linkToFolder = (path: string, folder: string): string =>
  folder === "" ? path : `${path}?folder=${encodeURIComponent(folder)}`;

/** Links to each folder from the artifact down to the current folder. */
const Way = ({ path, folder }: { path: string; folder: string }) => {
  const parts = folder === "" ? [] : folder.split("/");
  return (
    <p class="facts">
      <a href={path}>All files</a>
      {parts.map((part, index) => (
        <span>
          {" / "}
          <a href={linkToFolder(path, parts.slice(0, index + 1).join("/"))}>
            <bdi>{part}</bdi>
          </a>
        </span>
      ))}
    </p>
  );
};

const Files = ({ path, folder }: { path: string; folder: Folder }) => {
  const folders = folder.folders.slice(0, ROWS);
  const files = folder.files.slice(0, ROWS - folders.length);
  const hidden = folder.folders.length + folder.files.length - folders.length - files.length;
  return (
    <>
      <Table columns={["Name", "Files", "Size"]}>
        {folders.map((one) => (
          <tr data-row tabindex={-1}>
            <td>
              <a href={linkToFolder(path, one.path)}>
                <bdi>{one.name}</bdi>/
              </a>
            </td>
            <td>{countOfFiles(one.files)}</td>
            <td>{sizeText(one.bytes)}</td>
          </tr>
        ))}
        {files.map((file) => (
          <tr data-row tabindex={-1}>
            <td>
              <a href={`${path}/content/${inUrl(file.path)}`}>
                <bdi>{file.name}</bdi>
              </a>
            </td>
            <td />
            <td>{sizeText(file.bytes)}</td>
          </tr>
        ))}
      </Table>
      {hidden > 0 && <p class="hint">{hidden} more: download the zip to see all files.</p>}
    </>
  );
};

const Share = ({ path, folder, request }: { path: string; folder: string; request: FormState }) => (
  <section>
    <h2>Share</h2>
    <form class="stack" method="post" action={`${path}/share`}>
      <TextField
        request={request}
        name="hours"
        label="Valid for (hours)"
        type="number"
        value={DEFAULT_HOURS}
        min={1}
        max={LIMITS.shareHours}
        required
      />
      <TextField
        request={request}
        name="path"
        label="File or folder"
        value={folder}
        hint="Leave empty to share the whole artifact."
      />
      <span class="actions">
        <button type="submit">Create share link</button>
      </span>
    </form>
  </section>
);

const Delete = ({ path }: { path: string }) => (
  <>
    <button type="button" popovertarget="delete">
      Delete
    </button>
    <form id="delete" class="ask" popover="auto" method="post" action={`${path}/delete`}>
      <p>Delete this artifact permanently? Its share links stop working.</p>
      <span class="actions">
        <button type="submit" class="danger" autofocus>
          Delete artifact
        </button>
        <button type="button" popovertarget="delete" popovertargetaction="hide">
          Cancel
        </button>
      </span>
    </form>
  </>
);

/** Returns the address of the artifact's report; null if it has no report, or if the deployment shows no reports. */
const reportAddress = async (context: Context, { list, jobId, name }: ArtifactWithFiles): Promise<string | null> => {
  const report = findReport(list);
  const address = report === undefined ? null : await viewAddress(context, jobId, name);
  return address && address + inUrl(report ?? "");
};

const artifactPage: Page = {
  path: "/artifacts/:id/:name",
  role: "viewer",
  async show(context, request) {
    const artifact = await getArtifact.run(context, toInput(request.params));
    const { jobId, name, files, bytes, expiresAt, list } = artifact;
    const path = artifactPath(jobId, name);
    const folder = request.query.get("folder") ?? "";
    const content = folderAt(list, folder);
    const report = await reportAddress(context, artifact);
    const isMember = hasRole(context, "member");
    return {
      title: `Artifact ${name}`,
      section: "builds",
      body: (
        <>
          <ProblemNotice request={request} />
          <div class="head">
            <h1>
              Artifact <bdi>{name}</bdi>
            </h1>
            <div class="actions">
              {report && (
                <a class="button" href={report} rel="noreferrer" target="_blank">
                  Open report
                </a>
              )}
              <a class="button" href={`${path}/zip${folder === "" ? "" : `?folder=${encodeURIComponent(folder)}`}`}>
                Download zip
              </a>
              {isMember && <Delete path={path} />}
            </div>
          </div>
          <p class="facts">
            <span>{countOfFiles(files)}</span>
            <span>{sizeText(bytes)}</span>
            <span>
              expires <RelativeTime at={expiresAt} now={context.now} />
            </span>
          </p>
          <Way path={path} folder={folder} />
          <Files path={path} folder={content} />
          {isMember && <Share path={path} folder={folder} request={request} />}
        </>
      ),
    };
  },
};

const sharedView = (name: string, back: string, url: string, expiresAt: string, now: Date): View => ({
  title: `Share link for ${name}`,
  section: "builds",
  body: (
    <div class="column">
      <h1>
        Share link for <a href={back}>{name}</a>
      </h1>
      <p>
        Anyone with this link can download the files without a token. It expires{" "}
        <RelativeTime at={expiresAt} now={now} />, or when the artifact is deleted. It is shown only once.
      </p>
      <Copyable text={url} />
    </div>
  ),
});

const shareForm = formAt(
  "/artifacts/:id/:name/share",
  artifactPage,
  shareArtifact,
  async (context, { params, form }) => {
    const body = parseBody(shareArtifact.body, { hours: readNumber(form, "hours"), path: readText(form, "path") });
    const { url, expiresAt } = await shareArtifact.run(context, { ...toInput(params), body });
    const { id = "", name = "" } = params;
    return sharedView(name, artifactPath(id, name), url, expiresAt, context.now);
  },
);

const deleteForm = formAt("/artifacts/:id/:name/delete", artifactPage, removeArtifact, async (context, { params }) => {
  await removeArtifact.run(context, toInput(params));
  return { to: "/app/builds", notice: "removed" };
});

export const artifactPages: Pages = [artifactPage, shareForm, deleteForm];
