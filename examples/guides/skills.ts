/** A server with skills beside its tools: from a folder, and from texts where there are no files. */

import assert from 'node:assert/strict'
import type { ServerDefinition } from 'sluice'
import { defineServer } from 'sluice'
import { skills } from 'sluice/skills'
import { folder } from 'sluice/skills-node'
import { testClient } from 'sluice/testing'

export const releases: ServerDefinition = defineServer({
  name: 'releases',
  version: '1.0.0',
  skills: folder(`${import.meta.dirname}/skills`),
})

/** On workerd the files are texts that the bundler puts in. */
export const onTheEdge: ServerDefinition = defineServer({
  name: 'releases',
  version: '1.0.0',
  skills: skills({
    'release-notes/SKILL.md':
      '---\nname: release-notes\ndescription: Writes release notes\n---\n# Write release notes\n',
  }),
})

const client = await testClient(releases)
const listed = await client.request('skills/list')
assert.partialDeepStrictEqual(listed, {
  skills: [{ uri: 'skill://release-notes/SKILL.md', frontmatter: { name: 'release-notes' } }],
})
const read = await client.request('resources/read', { uri: 'skill://release-notes/references/tone.md' })
assert.match(JSON.stringify(read), /The first word is a verb/)
const directory = await client.request('resources/directory/read', { uri: 'skill://release-notes' })
assert.match(JSON.stringify(directory), /"mimeType":"inode\/directory"/)

// A bad skill fails at the start, and says which file and field.
assert.throws(
  () => skills({ 'notes/SKILL.md': '---\nname: Notes\ndescription: x\n---\n' }),
  /^TypeError: skills\/notes\/SKILL\.md: "name" must have 1 to 64 lower-case letters/,
)
