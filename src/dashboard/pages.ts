import type { Form, Page } from "./page.ts";
import { buildPage, cancelForm, retryForm } from "./pages/build.tsx";
import { buildsPage } from "./pages/builds.tsx";

/** Every page and every form of the dashboard; who may open one stands in it. */
export const PAGES: Page[] = [buildsPage, buildPage];

export const FORMS: Form[] = [cancelForm, retryForm];
