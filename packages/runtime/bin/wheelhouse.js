#!/usr/bin/env node
// Plain JavaScript, so that an older Node can read it and say what is missing.
const NEEDED = 24
const major = Number(process.versions.node.split('.')[0])
if (major < NEEDED) {
  console.error(
    `wheelhouse needs Node ${NEEDED} or newer; this is ${process.versions.node}. In the repository, \`npm start\` brings its own.`,
  )
  process.exit(1)
}
const { main } = await import('../src/cli/main.ts')
await main(process.argv)
