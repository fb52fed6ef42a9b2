// SPDX-License-Identifier: Apache-2.0
//
// Declares the connection to a vfio-user client: messages with file descriptors over a Unix socket.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "protocol.h"

namespace mae::vfio_user {

// Owns a file descriptor.
class File {
   public:
    explicit File(int number = -1) : number_(number) {}
    File(File &&other) noexcept : number_(std::exchange(other.number_, -1)) {}
    File &operator=(File &&other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~File();
    int number() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

   private:
    int number_;
};

struct Message {
    Header header;
    std::vector<uint8_t> body;
    std::vector<File> files;

    // Copies the structure at the start of the body; false if the body is too short.
    template <typename T>
    bool take(T &out) const {
        if (body.size() < sizeof out) return false;
        std::memcpy(&out, body.data(), sizeof out);
        return true;
    }
};

class Channel {
   public:
    // Listens on a Unix socket and accepts one client. Throws std::runtime_error.
    explicit Channel(const std::string &path);

    // Waits for a message, at most the given time; true if there is one, or the client has gone.
    bool readable(int milliseconds) const;
    // Receives a message; false if the client has gone or does not keep to the protocol.
    bool receive(Message &message);
    // Answers a message, unless the client wants no answer; false if the client has gone.
    bool reply(const Message &to, const std::vector<uint8_t> &body);
    // Answers a message with an errno.
    bool refuse(const Message &to, int error);

   private:
    bool send(const Message &to, uint32_t flags, int error, const std::vector<uint8_t> &body);

    File client_;
};

}  // namespace mae::vfio_user
