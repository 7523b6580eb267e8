import { memoryStore } from 'sluice'
import { expect, test } from 'vitest'
import { throttleAttempt } from './login-throttle.ts'

test('the addresses of one IPv6 network share their attempts, because one machine has them all', async () => {
  const store = memoryStore()
  const attempt = (peer: string): Promise<void> => throttleAttempt(store, 'k', peer, { burst: 1, perSecond: 0.001 })
  await attempt('2001:db8::1')
  await expect(attempt('2001:db8::2')).rejects.toMatchObject({ reason: 'rateLimited' })
  await attempt('2001:db8:0:1::1')
  await attempt('192.0.2.1')
})
