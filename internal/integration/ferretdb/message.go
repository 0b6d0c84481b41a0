package main

import (
	"bytes"
	"encoding/binary"

	"go.mongodb.org/mongo-driver/bson"
)

var order = binary.LittleEndian

const (
	headerSize = 16
	opMsg      = 2013
	moreToCome = 1 << 1
)

// A message is one of MongoDB's wire protocol, with its header: length, its own
// id, that of the message it answers, and the kind; in an OP_MSG flags, the
// kind of the first section and its document follow.
//
// https://github.com/mongodb/specifications/blob/master/source/message/OP_MSG.md
type message []byte

const (
	flagsAt    = headerSize
	sectionAt  = flagsAt + 4
	documentAt = sectionAt + 1
	nameAt     = documentAt + 5 // behind the document's length and the type of its first member
)

func (m message) isMsg() bool { return len(m) > nameAt && order.Uint32(m[12:]) == opMsg }

// command returns the name of the command, which is that of the document's first
// member, or "" for the legacy messages.
func (m message) command() string {
	if !m.isMsg() || m[sectionAt] != 0 {
		return ""
	}
	name, _, _ := bytes.Cut(m[nameAt:], []byte{0})
	return string(name)
}

func (m message) unanswered() bool { return m.isMsg() && order.Uint32(m[flagsAt:])&moreToCome != 0 }

// duplicate is the reply of MongoDB to a change that a unique index rejects. The
// commands that change several documents report it in a list.
func duplicate(command string, reply message) (message, error) {
	const code, text = 11000, "E11000 duplicate key error"
	answer := bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: text}, {Key: "code", Value: code}, {Key: "codeName", Value: "DuplicateKey"}}
	if command == "update" || command == "insert" {
		answer = bson.D{{Key: "n", Value: 0}, {Key: "nModified", Value: 0}, {Key: "writeErrors", Value: bson.A{
			bson.D{{Key: "index", Value: 0}, {Key: "code", Value: code}, {Key: "errmsg", Value: text}},
		}}, {Key: "ok", Value: 1.0}}
	}
	document, err := bson.Marshal(answer)
	if err != nil {
		return nil, err
	}
	m := append(bytes.Clone(reply[:headerSize]), 0, 0, 0, 0, 0)
	m = append(m, document...)
	order.PutUint32(m, uint32(len(m)))
	return m, nil
}
