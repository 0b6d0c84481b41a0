import * as auth from 'next-auth-4/react'
import { show } from './react.jsx'

show(auth)
