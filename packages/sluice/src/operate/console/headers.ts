/** What every answer of the console says to the browser. Nothing inline, nothing from elsewhere, nothing framed, nothing kept. */

/** Trusted types for none: a page that never turns text into markup loses nothing, and one that would fails loudly. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

export const securityHeaders: { readonly [name: string]: string } = {
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** A page that is shown again from a cache after signing out would show what only who is signed in may see. */
export const noStore = { 'cache-control': 'no-store' } as const
