// The documents of the repository that are pages of the site, and the way from
// one to the other.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
export const repository = join(here, '../../../..')
const github = 'https://github.com/pintleauth/pintle'

// pages has the page of each document.
export const pages = new Map([
  ['README.md', 'index.md'],
  ['CHANGELOG.md', 'changelog.md'],
  ['CONTRIBUTING.md', 'contributing.md'],
  ['SECURITY.md', 'security-policy.md'],
  ['client/README.md', 'client.md'],
  ['examples/README.md', 'examples.md'],
  ['examples/quickstart/README.md', 'quickstart.md'],
  ...readdirSync(join(repository, 'docs')).filter((name) => name.endsWith('.md')).map((name) => ['docs/' + name, name]),
])

const documents = new Map([...pages].map(([document, page]) => [page, document]))

// copy writes the documents to a directory, where VitePress looks for its pages.
export function copy(directory) {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  for (const [document, page] of pages) cpSync(join(repository, document), join(directory, page))
  // The README and the guides name a picture by different paths.
  const docs = join(repository, 'docs')
  for (const name of readdirSync(docs, { recursive: true }).filter((name) => /\.(png|svg|jpe?g|webp|gif)$/.test(name))) {
    cpSync(join(docs, name), join(directory, name))
    cpSync(join(docs, name), join(directory, 'docs', name))
  }
}

// target returns where a link of a page leads: to another page, or to the file of the
// repository at GitHub. It fails for a file that does not exist.
export function target(page, href) {
  if (href.startsWith('#') || /^[a-z][a-z0-9+.-]*:/i.test(href)) return href
  const [path, anchor] = href.split('#')
  const file = posix.join(posix.dirname(documents.get(page)), decodeURI(path)).replace(/\/$/, '')
  const known = pages.get(file) ?? pages.get(posix.join(file, 'README.md'))
  const suffix = anchor ? '#' + anchor : ''
  if (known) return './' + known + suffix
  if (!existsSync(join(repository, file))) throw new Error(`${documents.get(page)} links to ${href}, which does not exist`)
  const kind = statSync(join(repository, file)).isDirectory() ? 'tree' : 'blob'
  return `${github}/${kind}/main/${file}${suffix}`
}

// sidebar is the map of the guides in the README.
export function sidebar() {
  const [, table] = readFileSync(join(repository, 'README.md'), 'utf8').split('\n## Guides\n')
  const groups = []
  for (const [, want, read] of table.matchAll(/^\| (\*\*.*?|….*?) \| (.*) \|$/gm)) {
    const items = []
    for (const [, text, href] of read.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)) {
      const link = target('index.md', href)
      const name = text[0].toUpperCase() + text.slice(1)
      items.push({ text: name, link: link.startsWith('./') ? '/' + link.slice(2).replace('.md', '.html') : link })
    }
    groups.push({ text: want.replaceAll('*', ''), items, collapsed: false })
  }
  return groups
}

// source returns the address of the document behind a page.
export function source(page) {
  return `${github}/blob/main/${documents.get(page)}`
}
