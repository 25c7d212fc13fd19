// SPDX-License-Identifier: MIT
// Copyright (c) 2026 ringfence maintainers
//
// redlock.js PORT - node-redlock on one server, as a contestant of peers.c
'use strict'

const Redlock = require('redlock')

require('./contest')(client => {
  const redlock = new Redlock([client], { retryCount: 0 })
  return async () => {
    const lock = await redlock.lock('peer:redlock', 30000)
    await lock.unlock()
  }
})
