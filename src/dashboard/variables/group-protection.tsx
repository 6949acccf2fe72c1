import type { GroupProtection } from "../../protocol/group.ts";
import { includesRole, ROLES, type Role } from "../../protocol/token.ts";
import { AreaField, CheckField, readFlag, readLines, readText, SelectField } from "../parts/fields.tsx";
import { CommaList } from "../parts/lists.tsx";
import type { FormState } from "../shell/page-definition.ts";

const PATTERNS = "One pattern per line: * matches any text except /, ** any text.";

interface ProtectionFieldsProps {
  request: FormState;
  protection: GroupProtection | null;
  /** The person's role. Nobody can set or change a protection that requires a higher role than their own. */
  own: Role | null;
}

/**
 * Shows a group's protection. If the person may not change it, the form has no field for it, and saving keeps the
 * protection.
 */
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
        hint="Only jobs that list this group under groups in their pipeline file get its variables."
      />
      <AreaField
        request={request}
        name="protection/branches"
        label="Branches"
        value={branches?.join("\n")}
        rows={2}
        hint={`${PATTERNS} Leave branches and tags empty to allow every branch and tag. With tags only, no branch is allowed.`}
      />
      <AreaField
        request={request}
        name="protection/tags"
        label="Tags"
        value={tags?.join("\n")}
        rows={2}
        hint="With branches only, no tag is allowed."
      />
      <SelectField
        request={request}
        name="protection/approval"
        label="Approval required"
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

/** Returns the form's protection, or nothing if the page had no fields for a protection. */
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

/** Says when builds get a protected group's variables, or shows nothing for an unprotected group. */
export const ProtectionFacts = ({ protection }: { protection: GroupProtection | null }) => {
  if (!protection) return null;
  const { branches, tags, approval } = protection;
  return (
    <p class="facts" id="protection">
      <strong>Protected: only for jobs that list it</strong>
      {branches === null && tags === null && <span>on any branch or tag</span>}
      <Patterns kind="on branches" patterns={branches} />
      <Patterns kind="on tags" patterns={tags} />
      {approval && <span>after approval by {approval === "admin" ? "an admin" : `a ${approval} or above`}</span>}
    </p>
  );
};
