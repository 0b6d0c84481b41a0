import { connect } from '/pintle.js'
import { draw, tell } from './plain.js'

const auth = connect({ basePath: '/api/auth' })
draw({
  ...auth,
  signIn: (id, { redirect, callbackUrl, ...fields } = {}) => auth.signIn(id, { redirect, redirectTo: callbackUrl, fields }),
})
auth.onChange(tell)
