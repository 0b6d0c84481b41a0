// playwright.mjs CHROMIUM STATE ADDRESS: print the text of a page, in a test of
// Playwright that starts with a storage state.
import { chromium } from 'playwright-core'

const [executablePath, storageState, address] = process.argv.slice(2)
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  const context = await browser.newContext({ storageState })
  const page = await context.newPage()
  await page.goto(address)
  process.stdout.write(await page.innerText('body'))
} finally {
  await browser.close()
}
