import './style.css'

export default function Layout({ children }) {
  return (
    <html lang="en">
      <head>
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="data:," />
      </head>
      <body>{children}</body>
    </html>
  )
}
