import { expect, test } from 'vitest'
import { url, visit } from './questions.ts'

test.each([
  'javascript:alert(1)',
  'file:///etc/passwd',
  'data:text/html,x',
  'http://example.com',
  '/page',
  'vscode://x',
  '',
])('a person is not asked to open %j', (href) => {
  const refusal = `page "Sign in": ${JSON.stringify(href)} must be an https URL (http on loopback only)`
  expect(() => url('Sign in', href)).toThrow(refusal)
  expect(() => visit('Sign in', href, 'id')).toThrow(refusal)
})

test.each(['https://example.com/sign-in?x=1#y', 'http://127.0.0.1:8080/callback', 'http://localhost'])(
  'a person may be sent to %s',
  (href) => {
    expect(url('Sign in', href).params).toMatchObject({ mode: 'url', url: href })
  },
)
