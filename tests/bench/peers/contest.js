// SPDX-License-Identifier: MIT
// Copyright (c) 2026 ringfence maintainers
//
// contest.js - what the contestants of peers.c that run on node have in common
'use strict'

const readline = require('readline')
const Redis = require('ioredis')

function cpuUs() {
  const used = process.resourceUsage()
  return used.userCPUTime + used.systemCPUTime
}

function nowUs() {
  return Number(process.hrtime.bigint()) / 1e3
}

// contest(make): make(client) is a function that takes a lock and gives it back.
module.exports = async function contest(make) {
  const client = new Redis({ host: '127.0.0.1', port: Number(process.argv[2]) })
  const pair = make(client)
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const cpu = cpuUs()
    const begin = nowUs()
    for (let left = Number(line); left > 0; left--)
      await pair()
    console.log(`${nowUs() - begin} ${cpuUs() - cpu}`)
  }
  client.disconnect()
}
