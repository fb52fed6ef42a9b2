// SPDX-License-Identifier: Apache-2.0
#include "channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>

namespace mae::vfio_user {

File::~File() {
    if (number_ >= 0) close(number_);
}

Channel::Channel(const std::string &path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        throw std::runtime_error(path + ": a socket's path has at most 107 characters");
    }
    std::memcpy(address.sun_path, path.c_str(), path.size());
    const File server(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!server || bind(server.number(), (const sockaddr *)&address, sizeof address) != 0 ||
        listen(server.number(), 1) != 0) {
        throw std::runtime_error(path + ": " + std::strerror(errno));
    }
    client_ = File(accept4(server.number(), nullptr, nullptr, SOCK_CLOEXEC));
    unlink(path.c_str());
    if (!client_) throw std::runtime_error(path + ": " + std::strerror(errno));
}

bool Channel::readable(int milliseconds) const {
    pollfd entry = {client_.number(), POLLIN, 0};
    return poll(&entry, 1, milliseconds) > 0;
}

bool Channel::receive(Message &message) {
    message.files.clear();
    alignas(cmsghdr) char control[CMSG_SPACE(kMaxFiles * sizeof(int))];
    iovec part = {&message.header, sizeof message.header};
    msghdr envelope = {};
    envelope.msg_iov = &part;
    envelope.msg_iovlen = 1;
    envelope.msg_control = control;
    envelope.msg_controllen = sizeof control;
    const ssize_t got = recvmsg(client_.number(), &envelope, MSG_WAITALL | MSG_CMSG_CLOEXEC);
    if (got <= 0) return false;
    for (const cmsghdr *c = CMSG_FIRSTHDR(&envelope); c; c = CMSG_NXTHDR(&envelope, (cmsghdr *)c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        for (size_t at = 0; at + sizeof(int) <= c->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
            int number;
            std::memcpy(&number, CMSG_DATA(c) + at, sizeof number);
            message.files.emplace_back(number);
        }
    }
    const uint32_t size = message.header.size;
    if (got != ssize_t(sizeof message.header) || size < sizeof message.header ||
        size > kMaxMessage || (envelope.msg_flags & MSG_CTRUNC)) {
        std::fprintf(stderr, "vfio-user: a message of %u bytes, or with too many files\n", size);
        return false;
    }
    message.body.resize(size - sizeof message.header);
    for (size_t at = 0; at < message.body.size();) {
        const ssize_t more = recv(client_.number(), &message.body[at], message.body.size() - at, 0);
        if (more == 0 || (more < 0 && errno != EINTR)) return false;
        if (more > 0) at += size_t(more);
    }
    return true;
}

bool Channel::reply(const Message &to, const std::vector<uint8_t> &body) {
    return send(to, kTypeReply, 0, body);
}

bool Channel::refuse(const Message &to, int error) {
    return send(to, kTypeReply | kFailed, error, {});
}

bool Channel::send(const Message &to, uint32_t flags, int error, const std::vector<uint8_t> &body) {
    if (to.header.flags & kNoReply) return true;
    const Header header = {to.header.id, to.header.command, uint32_t(sizeof header + body.size()),
                           flags, uint32_t(error)};
    const auto *start = reinterpret_cast<const uint8_t *>(&header);
    std::vector<uint8_t> all(start, start + sizeof header);
    all.insert(all.end(), body.begin(), body.end());
    for (size_t at = 0; at < all.size();) {
        const ssize_t sent = ::send(client_.number(), &all[at], all.size() - at, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) return false;
        if (sent > 0) at += size_t(sent);
    }
    return true;
}

}  // namespace mae::vfio_user
