/** The suite's resources. */

import type { Resource } from 'sluice'
import { resource } from 'sluice'
import { png } from './contents.ts'

export const resources: readonly Resource[] = [
  resource({
    uri: 'test://static-text',
    name: 'Static text',
    description: 'A text that never changes',
    mimeType: 'text/plain',
    read: () => 'This is the content of the static text resource.',
  }),
  resource({
    uri: 'test://static-binary',
    name: 'Static binary',
    description: 'An image that never changes',
    mimeType: 'image/png',
    read: () => ({ blob: png }),
  }),
  resource({
    uri: 'test://watched-resource',
    name: 'Watched resource',
    description: 'A text to subscribe to',
    mimeType: 'text/plain',
    read: () => 'Watched resource content',
  }),
  resource({
    uri: 'test://template/{id}/data',
    name: 'Resource template',
    description: 'Data for any id',
    mimeType: 'application/json',
    read: ({ id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  }),
]
