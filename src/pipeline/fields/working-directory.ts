/** Why a step cannot run in this folder, without quoting it; null when it can. */
export const folderProblem = (folder: string): string | null => {
  if (folder.startsWith("/")) return "A working-directory is relative to the checkout: it must not begin with /";
  if (folder.split("/").includes("..")) return "A working-directory is inside the checkout: it must not have .. in it";
  if (folder.includes("\0")) return "A working-directory must not have a NUL character";
  return null;
};
