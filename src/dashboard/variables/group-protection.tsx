import type { GroupProtection } from "../../protocol/group.ts";
import { includesRole, ROLES, type Role } from "../../protocol/token.ts";
import { AreaField, CheckField, readFlag, readLines, readText, SelectField } from "../parts/fields.tsx";
import { CommaList } from "../parts/lists.tsx";
import type { FormState } from "../shell/page-definition.ts";

const PATTERNS = "One pattern a line, * for a part, ** for any.";

interface ProtectionFieldsProps {
  request: FormState;
  protection: GroupProtection | null;
  /** The person's role. Nobody sets or changes a protection that requires a higher one. */
  own: Role | null;
}

/** Shows a group's protection. If the person may not change it, there is no field, and saving keeps it. */
export const ProtectionFields = ({ request, protection, own }: ProtectionFieldsProps) => {
  const { branches, tags, approval = null } = protection ?? {};
  if (own === null || (approval && !includesRole(own, approval))) return null;
  const roles = ROLES.filter((role) => includesRole(own, role));
  return (
    <fieldset class="field">
      <legend>Protection</legend>
      <input type="hidden" name="hasProtection" value="on" />
      <CheckField
        request={request}
        name="isProtected"
        label="Protected"
        on={protection !== null}
        hint="Its variables leave only with a job that names the group in groups of its file."
      />
      <AreaField
        request={request}
        name="protection/branches"
        label="Branches"
        value={branches?.join("\n")}
        rows={2}
        hint={`${PATTERNS} Without branches and tags, on any; with tags alone, on no branch.`}
      />
      <AreaField
        request={request}
        name="protection/tags"
        label="Tags"
        value={tags?.join("\n")}
        rows={2}
        hint="With branches alone, on no tag."
      />
      <SelectField
        request={request}
        name="protection/approval"
        label="A person approves each time"
        value={approval}
        choices={[
          { value: "", label: "no" },
          ...roles.map((role) => ({ value: role, label: role === "admin" ? role : `${role} or above` })),
        ]}
      />
    </fieldset>
  );
};

const readPatterns = (form: URLSearchParams, name: string): string[] | null => {
  const lines = readLines(form, name);
  return lines.length > 0 ? lines : null;
};

/** Returns the form's protection, or nothing if the page had no fields for it. */
export const readProtection = (form: URLSearchParams): object => {
  if (!form.has("hasProtection")) return {};
  if (!readFlag(form, "isProtected")) return { protection: null };
  const [branches, tags] = ["protection/branches", "protection/tags"].map((name) => readPatterns(form, name));
  return { protection: { branches, tags, approval: readText(form, "protection/approval") } };
};

const Patterns = ({ kind, patterns }: { kind: string; patterns: string[] | null }) =>
  patterns && (
    <span>
      {kind} <CommaList items={patterns.map((pattern) => <code>{pattern}</code>)} />
    </span>
  );

/** Says when builds get a protected group's variables. Shows nothing for an unprotected group. */
export const ProtectionFacts = ({ protection }: { protection: GroupProtection | null }) => {
  if (!protection) return null;
  const { branches, tags, approval } = protection;
  return (
    <p class="facts" id="protection">
      <strong>Protected: for jobs that name it</strong>
      {branches === null && tags === null && <span>on any branch or tag</span>}
      <Patterns kind="on branches" patterns={branches} />
      <Patterns kind="on tags" patterns={tags} />
      {approval && <span>after {approval === "admin" ? "an admin" : `a ${approval} or above`} approved</span>}
    </p>
  );
};
