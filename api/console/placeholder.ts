const words = {
  building: {
    title: 'The console is being built',
    text: 'This happens once, after an installation or an update, and takes some seconds. The page loads itself again.',
  },
  failed: {
    title: 'The console could not be built',
    text:
      'The log of the api says why. Its tools are development dependencies: where they are missing, run ' +
      '“npm install --include=dev”, then “npm run build”, and load this page again.',
  },
}

/** The page that stands in for the console while it is not there. */
export function placeholder(state: keyof typeof words): string {
  const { title, text } = words[state]
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    ${state === 'building' ? '<meta http-equiv="refresh" content="2" />' : ''}
    <title>${title} · Isobot</title>
    <link rel="icon" href="data:," />
    <style>
      :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
      body { margin: 0; min-height: 100vh; display: grid; place-content: center; text-align: center; padding: 1rem }
      p { max-width: 26rem; margin: 0; opacity: 0.7 }
      h1 { font-size: 1.25rem; margin: 0 0 0.5rem }
    </style>
  </head>
  <body>
    <main>
      <h1>${title}</h1>
      <p>${text}</p>
    </main>
  </body>
</html>
`
}
