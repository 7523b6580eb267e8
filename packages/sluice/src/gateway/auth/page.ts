/**
 * The page after a sign-in. It shows the code that connects the account, and for whom it is: a person who got the link
 * from another one must not pass the code on.
 */

import type { Page } from '../../core/plugin.ts'

const escapes: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character] ?? '')

/** Returns a page with a heading and paragraphs. It has no script, no form and no link. */
export function messagePage(status: number, heading: string, paragraphs: readonly string[]): Page {
  const text = paragraphs.map((paragraph) => `<p>${escaped(paragraph)}</p>`).join('\n')
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      // The address has the authorization code in it.
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
    body: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(heading)}</title>
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}</style></head>
<body><h1>${escaped(heading)}</h1>
${text}
</body>
</html>
`,
  }
}

/** Shows the code in two groups of four digits. */
export const codePage = (upstream: string, code: string): Page =>
  messagePage(200, `Your code: ${code.slice(0, 4)} ${code.slice(4)}`, [
    `To finish the sign-in to ${upstream}, type this code where you started it. That is the form of your client, the chat, or the console.`,
    'If another person sent you the link, close this page and keep the code to yourself. With the code, their agent could use your account.',
  ])
