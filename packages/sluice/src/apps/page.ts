/** Builds the HTML of an app: one document without references, so that it needs no network and no permission. */

import { bridge } from './bridge.ts'

/** The parts of a page. */
export interface AppPage {
  readonly title: string
  readonly style: string
  readonly body: string
  /**
   * Runs as a module after the page is there, with `app`: `app.onresult = (result, input) => …` gets each result of the
   * tool, `app.onerror` what failed, and `app.callTool(name, arguments)` and `app.readResource(uri)` ask the server.
   * `app.text(element, text)` shows text. Never put data into `innerHTML`.
   */
  readonly script: string
}

/** Makes the page of an app. It speaks with the client, follows its theme and reports its height. */
export function appPage({ title, style, body, script }: AppPage): string {
  for (const [part, text, end] of [
    ['style', style, /<\/style/i],
    ['script', script, /<\/script|<!--/i],
  ] as const)
    if (end.test(text)) throw new TypeError(`appPage: "${part}" must not contain ${end.exec(text)?.[0]}`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escape(title)}</title>
<style>
${baseStyle}
${style}
</style>
</head>
<body>
${body}
<script type="module">
${bridge}
${script}
app.connect(${JSON.stringify(title).replaceAll('<', '\\u003c')})
</script>
</body>
</html>
`
}

/** Uses the colours of the client where it names them. */
const baseStyle = `:root { color-scheme: light dark; font: 14px/1.45 var(--font-sans, system-ui, sans-serif);
  --ink: var(--color-text-primary, light-dark(#1e293b, #e2e8f0)); --soft: var(--color-text-secondary, light-dark(#475569, #94a3b8));
  --ground: var(--color-background-primary, light-dark(#ffffff, #0f172a)); --raised: var(--color-background-secondary, light-dark(#f1f5f9, #1e293b));
  --line: var(--color-border-primary, light-dark(#e2e8f0, #334155)) }
:root[data-theme=light] { color-scheme: light } :root[data-theme=dark] { color-scheme: dark }
* { box-sizing: border-box } body { margin: 0; padding: 16px; color: var(--ink); background: var(--ground) }
[hidden] { display: none !important }`

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
