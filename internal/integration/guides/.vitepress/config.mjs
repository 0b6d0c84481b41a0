// The guides as a static site: `make guides` builds it. It loads nothing from other hosts.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { copy, sidebar, source, target } from './sources.mjs'

const srcDir = join(dirname(fileURLToPath(import.meta.url)), 'pages')
copy(srcDir)

export default defineConfig({
  srcDir,
  title: 'Pintle',
  description: 'Sign-in and sessions for Go, wire-compatible with Auth.js',
  lang: 'en',
  base: process.env.GUIDES_BASE ?? '/', // where the site is not at the root of its host
  ignoreDeadLinks: false,
  vite: { logLevel: 'warn', build: { chunkSizeWarningLimit: 3000 } }, // the index of the search
  markdown: {
    anchor: { slugify: anchor },
    languageAlias: { caddy: 'nginx' },
    config(md) {
      md.core.ruler.push('repository-links', (state) => {
        for (const token of state.tokens.flatMap((block) => [block, ...(block.children ?? [])])) {
          // Vite takes a path for a file if it begins with a dot.
          if (token.type.startsWith('html_')) token.content = token.content.replace(/\b(src|srcset)="(?![a-z]+:|[/.])/g, '$1="./')
          const href = token.type === 'link_open' && token.attrGet('href')
          if (href) token.attrSet('href', target(state.env.relativePath, href))
        }
      })
      const fence = md.renderer.rules.fence
      md.renderer.rules.fence = (tokens, i, ...rest) =>
        tokens[i].info.trim() === 'mermaid'
          ? `<pre class="mermaid" v-pre>${md.utils.escapeHtml(tokens[i].content)}</pre>`
          : fence(tokens, i, ...rest)
      // Indented blocks are commands, or Go.
      md.renderer.rules.code_block = (tokens, i, ...rest) => {
        tokens[i].info = /^&?[a-z]\w*\.[A-Z]\w*[({]/.test(tokens[i].content) ? 'go' : 'sh'
        return fence(tokens, i, ...rest)
      }
    },
  },
  transformPageData(page) {
    page.frontmatter.source = source(page.relativePath)
  },
  themeConfig: {
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: {
            // Registers have every word: guides come before them.
            boostDocument: (id) => (/\/(security|compatibility|changelog|architecture|security-policy)\.html/.test(id) ? 0.1 : 1),
          },
        },
      },
    },
    sidebar: sidebar(),
    nav: [
      { text: 'Get started', link: '/getting-started.html' },
      { text: 'Production', link: '/production.html' },
      { text: 'Go reference', link: 'https://pkg.go.dev/github.com/pintleauth/pintle' },
    ],
    editLink: { pattern: ({ frontmatter }) => frontmatter.source, text: 'This page at GitHub' },
    socialLinks: [{ icon: 'github', link: 'https://github.com/pintleauth/pintle' }],
  },
})

// anchor returns the anchor that GitHub gives a heading.
function anchor(title) {
  return title.trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
}
